#include <algorithm>
#include <utility>

#include "nasbench/graph/limits.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/onnx_conversion.h"
#include "nasbench/graph/onnx_shape_rules.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench::onnx_conversions {

bool with_axis(Conversion& c) {
  const bool concatenates = c.result.operation.kind == OperatorKind::concatenate;
  if (c.shape(0).empty()) return false;
  c.result.attributes.axes = {c.axis("axis", concatenates ? 1 : -1)};
  if (c.node.op_type() == "LogSoftmax") c.result.operation.name = "log";
  if (concatenates) c.result.attributes.constant_first = c.is_constant(0) && c.result.inputs.size() == 1;
  return true;
}

/// QLinearConcat (com.microsoft): (scale, zero point, then tensor, scale, zero point of each part).
bool quantised_concat(Conversion& c) {
  c.result.inputs.clear();
  c.result.operation.inputs.clear();
  c.result.operation.constants.clear();
  for (std::size_t i = 2; i < c.inputs.size(); i += 3) {
    if (!c.is_computed(i)) return false;
    c.result.inputs.push_back(c.inputs[i]->source);
    c.result.operation.inputs.push_back(c.shape(i));
  }
  const std::int64_t axis = integer_attribute(c.node, "axis", 0);
  const auto rank = static_cast<std::int64_t>(c.result.operation.output.size());
  c.result.attributes.axes = {axis < 0 ? axis + rank : axis};
  return true;
}

bool split(Conversion& c) {
  if (!c.is_computed(0)) return false;
  keep_first_input(c);
  c.result.attributes.axes = {c.axis("axis", 0)};
  return true;
}

/// Starts within the tensor; ends follow from the output's shape.
bool slice(Conversion& c) {
  OperatorAttributes& a = c.result.attributes;
  a.starts = listed_numbers(c.node, c.inputs, "starts", 1);
  a.axes = listed_numbers(c.node, c.inputs, "axes", 3);
  a.steps = c.numbers(4);
  if (a.starts.empty() || c.is_computed(1) || c.is_computed(3) || c.is_computed(4)) return false;
  const auto rank = static_cast<std::int64_t>(c.shape(0).size());
  for (std::size_t i = a.axes.size(); i < a.starts.size(); ++i) a.axes.push_back(static_cast<std::int64_t>(i));
  a.axes.resize(a.starts.size());
  a.steps.resize(a.starts.size(), 1);
  for (std::size_t i = 0; i < a.starts.size(); ++i) {
    if (a.axes[i] < 0) a.axes[i] += rank;
    if (a.axes[i] < 0 || a.axes[i] >= rank) throw FormatError("there is no axis " + std::to_string(a.axes[i]));
    const std::int64_t extent = c.shape(0)[static_cast<std::size_t>(a.axes[i])];
    if (a.starts[i] < 0) a.starts[i] += extent;
    a.starts[i] = std::clamp<std::int64_t>(a.starts[i], 0, a.steps[i] < 0 ? extent - 1 : extent);
  }
  c.result.operation.name = "slice";
  c.result.operation.constants.clear();
  keep_first_input(c);
  return true;
}

/// One constant index is a slice; the rows of a table are an opaque look-up.
bool gather(Conversion& c) {
  if (!c.is_computed(0) || !c.known(1) || c.inputs[1]->numbers->size() != 1 || c.shape(0).empty()) return false;
  const std::int64_t axis = c.axis("axis", 0), index = c.inputs[1]->numbers->whole(0);
  if (axis < 0 || axis >= static_cast<std::int64_t>(c.shape(0).size()))
    throw FormatError("there is no axis " + std::to_string(axis));
  const std::int64_t extent = c.shape(0)[static_cast<std::size_t>(axis)];
  if (index < -extent || index >= extent)
    throw FormatError("index " + std::to_string(index) + " lies beyond the tensor");
  c.result.operation.kind = OperatorKind::split;
  c.result.operation.name = "slice";
  c.result.attributes.axes = {axis};
  c.result.attributes.starts = {index < 0 ? index + extent : index};
  c.result.attributes.steps = {1};
  keep_first_input(c);
  return true;
}

bool first_input_alone(Conversion& c) {
  if (!c.is_computed(0)) return false;
  keep_first_input(c);
  c.result.operation.constants.clear();
  return true;
}

/// Pads of some axes, the fourth input since opset 18, as pads of all.
std::vector<std::int64_t> of_all_axes(const Conversion& c, const std::vector<std::int64_t>& pads) {
  const std::vector<std::int64_t> axes = c.numbers(3);
  const std::size_t rank = c.shape(0).size();
  if (!c.known(3) || pads.size() != 2 * axes.size()) return {};
  std::vector<std::int64_t> all(2 * rank, 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = front_axis(axes[i], rank);
    all[axis] = pads[i];
    all[axis + rank] = pads[i + axes.size()];
  }
  return all;
}

bool pad(Conversion& c) {
  std::vector<std::int64_t> pads = listed_numbers(c.node, c.inputs, "pads", 1);
  const std::size_t rank = c.shape(0).size();
  if (c.has(3)) pads = of_all_axes(c, pads);
  if (!first_input_alone(c) || pads.size() != 2 * rank) return false;
  c.result.attributes.starts = {pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank)};
  c.result.attributes.ends = {pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end()};
  c.result.attributes.mode = text_attribute(c.node, "mode", "constant");
  c.result.attributes.alpha = c.known(2) && c.inputs[2]->numbers->size() == 1 ? c.inputs[2]->numbers->real(0)
                                                                              : real_attribute(c.node, "value", 0);
  return true;
}

bool resize(Conversion& c) {
  if (!first_input_alone(c)) return false;
  std::string mode = text_attribute(c.node, "mode", "nearest");
  if (mode == "cubic") c.result.operation.name = mode;  // of sixteen numbers each: it takes far longer than the others
  const std::string at = text_attribute(c.node, "coordinate_transformation_mode",
                                        c.node.op_type() == "Resize" ? "half_pixel" : "asymmetric");
  const std::string rounding = text_attribute(c.node, "nearest_mode", "round_prefer_floor");
  const bool half_pixel = at == "half_pixel" || at == "pytorch_half_pixel";
  if (mode == "nearest") {
    mode = at == "asymmetric" && (rounding == "floor" || c.node.op_type() != "Resize") ? "nearest" : "other";
  } else if (mode == "linear") {
    mode = half_pixel ? "linear" : at == "align_corners" ? "linear_aligned" : "other";
  } else {
    mode = mode == "cubic" && half_pixel && real_attribute(c.node, "cubic_coeff_a", -0.75) == -0.75 ? "cubic" : "other";
  }
  c.result.attributes.mode = mode;
  return true;
}

bool transpose(Conversion& c) {
  std::vector<std::int64_t> axes = integers_attribute(c.node, "perm");
  if (axes.empty()) {
    for (std::size_t i = c.shape(0).size(); i > 0; --i) axes.push_back(static_cast<std::int64_t>(i) - 1);
  }
  if (!is_permutation(axes, c.shape(0).size())) {
    throw FormatError("its attribute 'perm' is no permutation of " + std::to_string(c.shape(0).size()) + " axes");
  }
  c.result.attributes.axes = std::move(axes);
  return c.is_computed(0);
}

bool batch_norm(Conversion& c) {
  for (std::size_t i = 1; i < 5; ++i) {
    if (!c.is_constant(i)) return false;
  }
  if (!first_input_alone(c) || c.shape(0).size() < 2 || c.result.operation.output.size() != c.shape(0).size())
    return false;
  c.result.attributes.alpha = real_attribute(c.node, "epsilon", 1e-5F);
  return element_count(c.shape(1)) == c.shape(0)[1];
}

bool layer_norm(Conversion& c) {
  if (!c.is_computed(0) || !c.is_constant(1) ||
      c.axis("axis", -1) + 1 != static_cast<std::int64_t>(c.shape(0).size())) {
    return false;
  }
  if (!first_input_alone(c)) return false;
  c.result.attributes.axes = {c.axis("axis", -1)};
  c.result.attributes.alpha = real_attribute(c.node, "epsilon", 1e-5F);
  return true;
}

bool group_norm(Conversion& c) {
  if (!c.is_constant(1) || c.shape(0).size() < 3) return false;
  const std::int64_t channels = c.shape(0)[1];
  const bool of_instances = c.node.op_type() == "InstanceNormalization";
  const std::int64_t groups = of_instances ? channels : integer_attribute(c.node, "num_groups", 1);
  if (groups < 1 || groups > channels || channels % groups != 0) {
    throw FormatError(std::to_string(groups) + " groups do not divide " + std::to_string(channels) + " channels");
  }
  if (element_count(c.shape(1)) != channels || !first_input_alone(c)) return false;
  c.result.operation.groups = small(groups);
  c.result.attributes.alpha = real_attribute(c.node, "epsilon", 1e-5F);
  return true;
}

const std::map<std::string, std::string>& reduction_names() {
  static const std::map<std::string, std::string> names = {{"ReduceMean", "mean"},    {"ReduceSum", "sum"},
                                                           {"ReduceMax", "max"},      {"ReduceMin", "min"},
                                                           {"ReduceProd", "product"}, {"ReduceL2", "l2"}};
  return names;
}

bool reduce(Conversion& c) {
  const std::vector<bool> reduced = reduced_axes(c.node, c.inputs);
  const std::size_t rank = reduced.size();
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0; i < rank; ++i) {
    if (reduced[i]) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (axes.empty() || c.is_computed(1) || !first_input_alone(c)) return false;
  set_reduction(c.result, reduction_names().at(c.node.op_type()), std::move(axes), rank == 4);
  return true;
}

}  // namespace tenshot::nasbench::onnx_conversions
