#include "descriptor/counters/core_types.h"

#include <fstream>
#include <optional>
#include <set>
#include <system_error>

#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"
#include "nasbench/support/words.h"

namespace tenshot::descriptor {
namespace {

/// Whether the kernel's list of processors ("0-3,8") holds `cpu`.
bool listed(const std::string& list, int cpu) {
  for (const std::string& range : filled_parts(list)) {
    const std::size_t dash = range.find('-');
    const std::optional<long long> first = parse_integer(range.substr(0, dash));
    const std::optional<long long> last = dash == std::string::npos ? first : parse_integer(range.substr(dash + 1));
    if (first && last && *first <= cpu && cpu <= *last) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> core_types(const std::filesystem::path& sources) {
  std::vector<std::string> types;
  std::error_code no_matter;
  for (const std::filesystem::path& entry : entries_of(sources, &no_matter)) {
    const std::string name = entry.filename().string();
    if (name == "cpu" || name == "cpum_cf" || std::filesystem::exists(entry / "cpus", no_matter)) types.push_back(name);
  }
  return types;
}

std::string core_type(int cpu, const std::filesystem::path& sources) {
  std::string of_every_core;  // a PMU that lists no processors serves them all
  for (const std::string& type : core_types(sources)) {
    std::ifstream file(sources / type / "cpus");
    if (!file) of_every_core = type;
    std::string list;
    if (std::getline(file, list) && listed(list, cpu)) return type;
  }
  return of_every_core;
}

std::string core_types_of(const std::vector<int>& cpus, const std::filesystem::path& sources) {
  std::set<std::string> types;
  for (const int cpu : cpus) types.insert(core_type(cpu, sources));
  types.erase("");
  return types.empty() ? "unknown" : joined(types, "+");
}

}  // namespace tenshot::descriptor
