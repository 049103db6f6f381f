#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "nasbench/graph/operator_specification.h"

namespace tenshot::nasbench {

// Which kernel a runtime takes for an operator, as its source says (kernel deduction: Li, Paolieri and Golubchik,
// Performance Evaluation 165, 2024, §4.1).

/// What a choice asks of a size of an operator.
struct SizeCondition {
  std::string size;  ///< one of size_names()
  std::string test;  ///< "equals", "at_least", "at_most", "multiple_of"
  std::int64_t value = 0;

  bool holds(const OperatorSpecification& operation) const;
  friend bool operator<(const SizeCondition& a, const SizeCondition& b) {
    return std::tie(a.size, a.test, a.value) < std::tie(b.size, b.test, b.value);
  }
};

/// "groups", "window_height", "window_width", "stride_height", "stride_width", "input_channels", "output_channels",
/// "group_inputs" and "group_outputs" (channels of a group), "input_pixels", "output_pixels", "input_slices" and
/// "output_slices" (channels over four, rounded up), "tiles" (of 4×4 pixels of the output).
std::vector<std::string> size_names();

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

}  // namespace tenshot::nasbench
