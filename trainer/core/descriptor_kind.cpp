#include "trainer/core/descriptor_kind.h"

#include <string>

#include "nasbench/support/error.h"
#include "nasbench/support/text.h"

namespace tenshot::trainer {

std::string_view name(DescriptorKind kind) {
  switch (kind) {
    case DescriptorKind::inferred: return "inferred";
    case DescriptorKind::latency: return "latency";
    case DescriptorKind::in_network: return "in-network";
    case DescriptorKind::counters: return "counters";
  }
  return "";
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
