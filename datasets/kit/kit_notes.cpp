#include "datasets/kit/kit_notes.h"

#include <sstream>
#include <system_error>

#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot::datasets {

KitNotes read_notes(const std::filesystem::path& path) {
  KitNotes notes;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return notes;
  std::istringstream lines(read_file(path));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    notes.emplace(excerpt(trimmed(line.substr(0, equals))), excerpt(trimmed(line.substr(equals + 1)), 200));
  }
  return notes;
}

std::string note(const KitNotes& notes, const std::string& key) {
  const auto found = notes.find(key);
  return found == notes.end() ? std::string() : found->second;
}

}  // namespace tenshot::datasets
