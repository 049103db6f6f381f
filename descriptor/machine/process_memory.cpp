#include "descriptor/machine/process_memory.h"

#include <fstream>
#include <iterator>
#include <string>

#include "nasbench/support/numbers.h"

namespace tenshot::descriptor {

std::optional<double> peak_memory_mib(std::string_view status) {
  constexpr std::string_view key = "VmHWM:", unit = " kB";
  constexpr double kib_per_mib = 1024;
  const std::size_t start = status.find(key);
  if (start == std::string_view::npos) return std::nullopt;
  const std::string_view rest = status.substr(start + key.size());
  const std::size_t end = rest.find(unit);
  if (end == std::string_view::npos) return std::nullopt;
  const std::optional<double> kib = parse_number(trimmed(rest.substr(0, end)));
  if (!kib) return std::nullopt;
  return *kib / kib_per_mib;
}

std::optional<double> peak_memory_mib() {
  std::ifstream file("/proc/self/status");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return peak_memory_mib(text);
}

}  // namespace tenshot::descriptor
