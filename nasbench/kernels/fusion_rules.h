#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nasbench/kernels/kernel_choice.h"

namespace tenshot::nasbench {

/// What happens where an operator has several inputs, or its output several readers (nn-Meter §4.1: 0, 1 and 2).
enum class BranchRule : std::uint8_t {
  none,   ///< nothing fuses across
  first,  ///< the first that may fuse does: inputs in their order, readers in the order of execution
  last,
  latest  ///< of inputs alone: that which is computed last, where all have the output's shape, else the first one
};
/// "none", "first", "last", "latest".
std::string_view name(BranchRule rule);

/// Which operators a runtime executes as one kernel (nn-Meter §4; Zhang et al., MobiSys 2021).
struct FusionRules {
  std::string name;
  /// Types of an operator and of the one that reads it, groups resolved: {"convolution", "batch_norm"}. A kernel has
  /// the type of its first operator.
  std::set<std::pair<std::string, std::string>> pairs;
  BranchRule multi_inbound = BranchRule::none;
  BranchRule multi_outbound = BranchRule::none;
  std::vector<KernelChoice> kernels;  ///< which kernel is taken for the operator that a kernel begins with

  /// Whether an operator `next` may join a kernel whose first operator is `first`.
  bool fuses(const OperatorSpecification& first, const OperatorSpecification& next) const;
};

/// What rules may call an operator, the most particular name first: the function of an activation ("relu") and
/// "activation"; that of an operator of two tensors ("subtract") and "elementwise"; "convolution",
/// "depthwise_convolution" or "grouped_convolution"; the kind of any other.
std::vector<std::string> fusion_types(const OperatorSpecification& operation);

/// All names that rules may use.
const std::vector<std::string>& known_fusion_types();

/// The content of a file of rules:
///
///     {"format": "tenshot.fusion/1", "name": "my runtime",
///      "groups": {"convolutions": ["convolution", "depthwise_convolution"]},
///      "pairs": [["convolutions", "batch_norm"], ["convolutions", "activation"], ["add", "relu"]],
///      "multi_inbound": "first", "multi_outbound": "none",
///      "kernels": [{"kernel": "winograd", "when": {"operation": "convolution", "groups": 1, "tiles": {"at_least":
///      32}}},
///                  {"kernel": "direct", "when": {"operation": ["convolutions"]}}]}
///
/// A group stands for its members, which are operators or groups. Throws FormatError that names `file`, the place, what
/// is found there and what is expected: an operator that is not known, a group that contains itself, a pair of other
/// than two, kernels that contradict each other (require_consistent).
FusionRules parse_fusion_rules(std::string_view text, const std::string& file);

/// The rules of a file, or shipped ones by their name: "none", "activation", "tflite-gpu-adreno6xx". Throws FileError,
/// FormatError.
FusionRules fusion_rules(const std::string& name_or_file);

/// Names of the shipped rules.
std::vector<std::string> shipped_rule_names();

/// The rules as the content of a file, pairs in alphabetical order; parse_fusion_rules reads it back.
nlohmann::ordered_json to_json(const FusionRules& rules);

}  // namespace tenshot::nasbench
