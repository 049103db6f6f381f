#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "nasbench/graph/operator_specification.h"
#include "nasbench/support/files.h"

namespace tenshot::nasbench {

// Which kernel a runtime takes for an operator, as its source says (kernel deduction: Li, Paolieri and Golubchik,
// Performance Evaluation 165, 2024, §4.1).

/// What a choice asks of a size of an operator.
struct SizeCondition {
  /// "groups", "window_height", "window_width", "stride_height", "stride_width", "input_channels", "output_channels",
  /// "group_inputs" and "group_outputs" (channels of a group), "input_pixels", "output_pixels", "input_slices" and
  /// "output_slices" (channels over four, rounded up), or "tiles" (of 4×4 pixels of the output).
  std::string size;
  std::string test;  ///< "equals", "at_least", "at_most", "multiple_of"
  std::int64_t value = 0;

  bool holds(const OperatorSpecification& operation) const;
  friend bool operator<(const SizeCondition& a, const SizeCondition& b) {
    return std::tie(a.size, a.test, a.value) < std::tie(b.size, b.test, b.value);
  }
};

/// A kernel, and when it is taken.
struct KernelChoice {
  std::string kernel;
  std::set<std::string> operations;  ///< fusion_types() that it is for; empty: all
  std::set<SizeCondition> when;      ///< all of them hold

  bool holds(const OperatorSpecification& operation) const;
};

/// One choice of a file: {"kernel": "winograd", "when": {"groups": 1, "tiles": {"at_least": 32}}}, whose operations the
/// caller has resolved. `place` leads to it. Throws FormatError that names `file` and the place: a size or a test that
/// is not known, two tests that no number passes.
KernelChoice parse_kernel_choice(const nlohmann::json& value, const std::string& place, const std::string& file,
                                 std::set<std::string> operations);

/// Throws FormatError where a choice is never taken: one before it holds wherever it does. Where both have the same
/// conditions and choose two kernels, the message says that they contradict each other.
void require_consistent(const std::vector<KernelChoice>& choices, const std::string& file);

/// Kernels with their conditions, as the content of a file.
nlohmann::ordered_json to_json(const std::vector<KernelChoice>& choices);

/// The kernel that is taken for an operator, by the first choice that holds; `otherwise` by none.
std::string chosen_kernel(const std::vector<KernelChoice>& choices, const OperatorSpecification& operation,
                          const std::string& otherwise);

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

/// The content of a file of rules:
///
///     {"format": "tenshot.fusion/1", "name": "my runtime",
///      "groups": {"convolutions": ["convolution", "depthwise_convolution"]},
///      "pairs": [["convolutions", "batch_norm"], ["convolutions", "activation"], ["add", "relu"]],
///      "multi_inbound": "first", "multi_outbound": "none",
///      "kernels": [{"kernel": "winograd", "when": {"operation": "convolution", "tiles": {"at_least": 32}}},
///                  {"kernel": "direct", "when": {"operation": ["convolutions"]}}]}
///
/// A group stands for its members, which are operators or groups. Throws FormatError that names `file`, the place, what
/// is found there and what is expected: an operator that is not known, a group that contains itself, a pair of other
/// than two, kernels that contradict each other (require_consistent).
FusionRules parse_fusion_rules(std::string_view text, const std::string& file);

/// The rules of a file, or shipped ones: "none", "activation", "tflite-gpu-adreno6xx". Throws FileError, FormatError.
FusionRules fusion_rules(const std::string& name_or_file);

/// The files of nasbench/kernels/shipped/, and their names.
const std::vector<ShippedFile>& shipped_rules();
std::vector<std::string> shipped_rule_names();

/// The rules as the content of a file, pairs in alphabetical order; parse_fusion_rules reads it back.
nlohmann::ordered_json to_json(const FusionRules& rules);

}  // namespace tenshot::nasbench
