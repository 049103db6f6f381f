#pragma once

#include <string>
#include <vector>

#include "nasbench/graph/operator_specification.h"

namespace tenshot::nasbench {

/// Operators that are measured as one, each reading what the one before it gave; an operator that wants more inputs
/// gets the first tensor as well. The key of everything that is measured of operators alone or in a chain: descriptors,
/// look-up tables, profiles and kits. Specifications are those of one image: the batch belongs to the device-runtime.
struct OperatorSequence {
  Shape input;                                   ///< of the first tensor: {1, channels, height, width} for an image
  std::vector<OperatorSpecification> operators;  ///< none: an empty call, which gives its input back

  bool is_empty_call() const { return operators.empty(); }
  /// Channels and height of the first tensor; 0 where it is no image.
  int channels() const { return input.size() == 4 ? static_cast<int>(input[1]) : 0; }
  int resolution() const { return input.size() == 4 ? static_cast<int>(input[2]) : 0; }

  friend bool operator==(const OperatorSequence& a, const OperatorSequence& b) {
    return a.input == b.input && a.operators == b.operators;
  }
  friend bool operator!=(const OperatorSequence& a, const OperatorSequence& b) { return !(a == b); }
};

/// Whether both are the same but for the height and width of their images.
bool same_at_any_resolution(const OperatorSequence& a, const OperatorSequence& b);

/// One line, the same for equal sequences: the operators' lines, or "empty call 1x16x32x32". `at_any_resolution` leaves
/// height and width out, so that lines are the same where same_at_any_resolution() holds.
std::string format(const OperatorSequence& sequence, bool at_any_resolution = false);

/// What something is that is known by a name and its image alone: one opaque operator.
OperatorSequence opaque_operator(const std::string& name, int channels, int resolution);

}  // namespace tenshot::nasbench
