#include "trainer/core/descriptor_kind.h"

#include <array>
#include <string>

#include "nasbench/support/error.h"
#include "nasbench/support/text.h"

namespace tenshot::trainer {

std::string_view name(DescriptorKind kind) {
  constexpr std::array<std::string_view, 4> names = {"inferred", "latency", "in-network", "counters"};
  return names[static_cast<std::size_t>(kind)];
}

DescriptorKind descriptor_kind(std::string_view text, const std::vector<DescriptorKind>& possible) {
  std::vector<std::string> names;
  for (const DescriptorKind kind : possible) {
    if (name(kind) == text) return kind;
    names.emplace_back(name(kind));
  }
  throw InputError("there is no descriptor kind '" + excerpt(text) + "'; there are: " + joined(names));
}

}  // namespace tenshot::trainer
