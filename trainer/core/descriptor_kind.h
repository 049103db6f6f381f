#pragma once

#include <string_view>
#include <vector>

namespace tenshot::trainer {

/// Which part of a hardware descriptor a predictor makes use of (`--descriptor-kind`).
enum class DescriptorKind {
  inferred,    ///< none: devices are described by their measured networks
  latency,     ///< the latencies of operators measured alone
  in_network,  ///< what one more of an operation costs inside a network
  counters     ///< counters of operators measured alone, and their latencies (MAPLE-Edge §2.1.2)
};

/// As the command line and files name it.
std::string_view name(DescriptorKind kind);

/// The inverse, of the kinds that a predictor has. Throws InputError that lists their names.
DescriptorKind descriptor_kind(std::string_view name, const std::vector<DescriptorKind>& possible);

}  // namespace tenshot::trainer
