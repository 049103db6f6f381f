// Operators of ONNX that move numbers, normalise, reduce, or compute element by element.

#include "nasbench/graph/limits.h"
#include "nasbench/graph/onnx_operators.h"
#include "nasbench/graph/onnx_shape_rules.h"
#include "nasbench/support/words.h"

namespace tenshot::nasbench::onnx_conversions {

bool with_axis(Conversion& c) {
  const bool concatenates = c.result.operation.kind == OperatorKind::concatenate;
  if (c.shape().empty()) return false;
  c.result.attributes.axes = {c.first_axis(concatenates ? 1 : -1)};
  if (c.type() == "LogSoftmax") c.result.operation.name = "log";
  if (concatenates) c.result.attributes.constant_first = c.is_constant(0) && c.result.inputs.size() == 1;
  return true;
}

bool split(Conversion& c) {
  if (!c.is_computed(0)) return false;
  keep_first_input(c);
  c.result.attributes.axes = {c.first_axis(0)};
  return true;
}

/// Starts within the tensor; ends follow from the output's shape.
bool slice(Conversion& c) {
  OperatorAttributes& a = c.result.attributes;
  a.starts = c.listed("starts", 1);
  a.axes = c.listed("axes", 3);
  a.steps = c.whole_numbers(4);
  if (a.starts.empty() || c.is_computed(1) || c.is_computed(3) || c.is_computed(4)) return false;
  for (std::size_t i = a.axes.size(); i < a.starts.size(); ++i) a.axes.push_back(static_cast<std::int64_t>(i));
  a.axes.resize(a.starts.size());
  a.steps.resize(a.starts.size(), 1);
  for (std::size_t i = 0; i < a.starts.size(); ++i) {
    a.axes[i] = static_cast<std::int64_t>(front_axis(a.axes[i], c.shape().size()));
    const std::int64_t extent = c.shape()[static_cast<std::size_t>(a.axes[i])];
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
  if (!c.is_computed(0) || !c.known(1) || c.data(1).size() != 1 || c.shape().empty()) return false;
  const std::int64_t axis = c.first_axis(0), extent = c.shape()[static_cast<std::size_t>(axis)],
                     index = c.data(1).whole(0);
  if (index < -extent || index >= extent) reject({"index ", index, " lies beyond the tensor"});
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

bool pad(Conversion& c) {
  const std::vector<std::int64_t> pads = pads_of(c);
  if (!first_input_alone(c) || pads.empty()) return false;
  const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(pads.size() / 2);
  c.result.attributes.starts = {pads.begin(), middle};
  c.result.attributes.ends = {middle, pads.end()};
  c.result.attributes.mode = c.text("mode", "constant");
  c.result.attributes.alpha = c.known(2) && c.data(2).size() == 1 ? c.data(2).real(0) : c.real("value", 0);
  return true;
}

bool resize(Conversion& c) {
  if (!first_input_alone(c)) return false;
  std::string mode = c.text("mode", "nearest");
  if (mode == "cubic") c.result.operation.name = mode;  // of sixteen numbers each: it takes far longer than the others
  const std::string at = c.text("coordinate_transformation_mode", c.type() == "Resize" ? "half_pixel" : "asymmetric");
  const std::string rounding = c.text("nearest_mode", "round_prefer_floor");
  const bool half_pixel = at == "half_pixel" || at == "pytorch_half_pixel";
  if (mode == "nearest") {
    mode = at == "asymmetric" && (rounding == "floor" || c.type() != "Resize") ? "nearest" : "other";
  } else if (mode == "linear") {
    mode = half_pixel ? "linear" : at == "align_corners" ? "linear_aligned" : "other";
  } else {
    mode = mode == "cubic" && half_pixel && c.real("cubic_coeff_a", -0.75) == -0.75 ? "cubic" : "other";
  }
  c.result.attributes.mode = mode;
  return true;
}

bool transpose(Conversion& c) {
  c.result.attributes.axes = permutation_of(c);
  return c.is_computed(0);
}

bool batch_norm(Conversion& c) {
  for (std::size_t i = 1; i < 5; ++i) {
    if (!c.is_constant(i)) return false;
  }
  if (!first_input_alone(c) || c.shape().size() < 2 || c.result.operation.output.size() != c.shape().size())
    return false;
  c.result.attributes.alpha = c.real("epsilon", 1e-5F);
  return element_count(c.shape(1)) == c.shape()[1];
}

bool layer_norm(Conversion& c) {
  if (!c.is_computed(0) || !c.is_constant(1) || c.first_axis(-1) + 1 != static_cast<std::int64_t>(c.shape().size())) {
    return false;
  }
  if (!first_input_alone(c)) return false;
  c.result.attributes.axes = {c.first_axis(-1)};
  c.result.attributes.alpha = c.real("epsilon", 1e-5F);
  return true;
}

bool group_norm(Conversion& c) {
  if (!c.is_constant(1) || c.shape().size() < 3) return false;
  const std::int64_t channels = c.shape()[1];
  const bool of_instances = c.type() == "InstanceNormalization";
  const std::int64_t groups = of_instances ? channels : c.integer("num_groups", 1);
  if (groups < 1 || groups > channels || channels % groups != 0) {
    reject({groups, " groups do not divide ", channels, " channels"});
  }
  if (element_count(c.shape(1)) != channels || !first_input_alone(c)) return false;
  c.result.operation.groups = small(groups);
  c.result.attributes.alpha = c.real("epsilon", 1e-5F);
  return true;
}

const std::map<std::string, std::string>& reduction_names() {
  static const std::map<std::string, std::string> names = {{"ReduceMean", "mean"},    {"ReduceSum", "sum"},
                                                           {"ReduceMax", "max"},      {"ReduceMin", "min"},
                                                           {"ReduceProd", "product"}, {"ReduceL2", "l2"}};
  return names;
}

bool reduce(Conversion& c) {
  const std::vector<bool> reduced = reduced_axes(c);
  const std::size_t rank = reduced.size();
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0; i < rank; ++i) {
    if (reduced[i]) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (axes.empty() || c.is_computed(1) || !first_input_alone(c)) return false;
  set_reduction(c.result, reduction_names().at(c.type()), std::move(axes), rank == 4);
  return true;
}

const std::map<std::string, std::string>& activation_names() {
  static const std::map<std::string, std::string> names = lower_cased(
      "Relu Sigmoid Tanh Elu Selu Softplus Gelu Mish Erf Sqrt Exp Log Reciprocal Floor Ceil Round Sign Not "
      "Cast Softsign Sin Cos Silu Celu HardSwish=hard_swish HardSigmoid=hard_sigmoid "
      "QLinearSigmoid=sigmoid LeakyRelu=leaky_relu QLinearLeakyRelu=leaky_relu FastGelu=gelu Neg=negate "
      "Abs=absolute Swish=silu QuickGelu=quick_gelu ThresholdedRelu=thresholded_relu");
  return names;
}

const std::map<std::string, std::string>& elementwise_names() {
  static const std::map<std::string, std::string> names = lower_cased(
      "PRelu Where Equal Less Greater And Or Xor Sub=subtract Div=divide Pow=power Min=minimum Max=maximum "
      "Mod=modulo LessOrEqual=less_or_equal GreaterOrEqual=greater_or_equal");
  return names;
}

bool activation(Conversion& c) {
  c.result.operation.name = activation_names().at(c.type());
  OperatorAttributes& a = c.result.attributes;
  const std::string& type = c.type();
  if (type == "QuickGelu" && c.real("alpha", 1.702F) == 1) c.result.operation.name = "silu";
  if (type == "LeakyRelu" || type == "QLinearLeakyRelu") a.alpha = c.real("alpha", 0.01F);
  if (type == "Elu" || type == "Celu" || type == "ThresholdedRelu") a.alpha = c.real("alpha", 1);
  if (type == "HardSigmoid") {
    a.alpha = c.real("alpha", 0.2F);
    a.beta = c.real("beta", 0.5);
  }
  keep_first_input(c);
  return true;
}

/// Attributes until opset 6, inputs since opset 11.
bool clip(Conversion& c) {
  const auto bound = [&](const char* name, std::size_t index, double otherwise) {
    if (c.known(index) && c.data(index).size() == 1) return c.data(index).real(0);
    return c.real(name, otherwise);
  };
  if (!c.is_computed(0) || c.is_computed(1) || c.is_computed(2)) return false;
  constexpr double open = 3.4028234663852886e38;
  c.result.attributes.alpha = bound("min", 1, -open);
  c.result.attributes.beta = bound("max", 2, open);
  const bool relu6 = c.result.attributes.alpha == 0 && c.result.attributes.beta == 6;
  c.result.operation.name = relu6 ? "relu6" : "clip";
  if (relu6) c.result.attributes.alpha = c.result.attributes.beta = 0;
  keep_first_input(c);
  return true;
}

bool elementwise(Conversion& c) {
  if (c.result.operation.kind == OperatorKind::elementwise) c.result.operation.name = elementwise_names().at(c.type());
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    if (!c.is_constant(i)) continue;
    c.result.attributes.constant_first =
        i == 0 && c.inputs.size() == 2 && c.result.operation.kind == OperatorKind::elementwise;
    if (element_count(c.shape(i)) == 1) c.result.attributes.alpha = c.known(i) ? c.data(i).real(0) : 1;
  }
  return c.result.operation.constants.size() + c.result.inputs.size() <= 3;
}

/// QLinearAdd and QLinearMul (com.microsoft), of two parts, and QLinearConcat, behind the output's: (x, scale, zero)…
bool quantised_parts(Conversion& c) {
  const bool concatenates = c.result.operation.kind == OperatorKind::concatenate;
  c.result.inputs.clear();
  c.result.operation.inputs.clear();
  c.result.operation.constants.clear();
  for (std::size_t i = concatenates ? 2 : 0; i < (concatenates ? c.inputs.size() : 4); i += 3) {
    if (!c.has(i)) return false;
    if (c.is_constant(i) && element_count(c.shape(i)) > 1) c.result.operation.constants.push_back(c.shape(i));
    if (c.is_constant(i)) continue;
    c.result.inputs.push_back(c.input(i).source);
    c.result.operation.inputs.push_back(c.shape(i));
  }
  if (!concatenates) return true;
  c.result.attributes.axes = {static_cast<std::int64_t>(c.axis("axis", 0, c.result.operation.output.size()))};
  c.result.attributes.constant_first = c.is_constant(2) && c.result.inputs.size() == 1;
  return true;
}

}  // namespace tenshot::nasbench::onnx_conversions
