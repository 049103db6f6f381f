#include <string>
#include <vector>

#include "descriptor/runtimes/libtorch_runtime.h"
#include "descriptor/runtimes/runnable.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot::descriptor {
namespace {

using nasbench::OperatorKind;

template <class Numbers>
std::string list(const Numbers& numbers) {
  std::vector<std::string> texts;
  for (const auto number : numbers) texts.push_back(std::to_string(number));
  return "[" + joined(texts) + "]";
}

std::string pair(int first, int second) { return list(std::vector<int>{first, second}); }
std::string pair(const nasbench::Extent& extent) { return pair(extent.height, extent.width); }
std::string pair(const nasbench::Padding& padding) { return pair(padding.top, padding.left); }
std::string text(bool value) { return value ? "True" : "False"; }

/// A literal that TorchScript takes for a float.
std::string real(double value) {
  const std::string number = shortest(value);
  return number.find_first_of(".en") == std::string::npos ? number + ".0" : number;
}

/// "torch.add(x, y)".
std::string call(const std::string& function, const std::vector<std::string>& arguments) {
  return "torch." + function + "(" + joined(arguments) + ")";
}

/// One node and the names of the values that it reads.
class NodeExpression {
 public:
  NodeExpression(const nasbench::NetworkNode& node, std::size_t index, std::vector<std::string> inputs)
      : node_(node), s_(node.operation), a_(node.attributes), index_(index), inputs_(std::move(inputs)) {}

  std::string text() const {
    switch (s_.kind) {
      case OperatorKind::convolution: return convolution();
      case OperatorKind::transposed_convolution:
        return call("conv_transpose2d", {x(), own("weight"), bias(), pair(s_.stride), pair(a_.padding),
                                         pair(output_padding(node_)), std::to_string(s_.groups), pair(s_.dilation)});
      case OperatorKind::linear: return call("linear", {x(), own("weight"), bias()});
      case OperatorKind::matrix_product: return call("matmul", {x(), inputs_[1]});
      case OperatorKind::max_pool: return max_pool();
      case OperatorKind::average_pool:
        return call("avg_pool2d", {x(), pair(s_.kernel), pair(s_.stride), pair(a_.padding),
                                   descriptor::text(a_.ceil_mode), descriptor::text(a_.count_padding)});
      case OperatorKind::global_pool: return global_pool();
      case OperatorKind::activation: return activation();
      case OperatorKind::add:
      case OperatorKind::multiply: return joined(operands(), s_.kind == OperatorKind::add ? " + " : " * ");
      case OperatorKind::elementwise: return elementwise();
      case OperatorKind::concatenate: return concatenate();
      case OperatorKind::split: return split();
      case OperatorKind::shuffle: return shuffle();
      case OperatorKind::pad: return pad();
      case OperatorKind::resize: return resize();
      case OperatorKind::reshape: return call("reshape", {x(), list(s_.output)});
      case OperatorKind::transpose: return call("permute", {x(), list(a_.axes)});
      case OperatorKind::batch_norm:
        return call("batch_norm", {x(), own("weight"), own("bias"), own("mean"), own("variance"), "False", "0.1",
                                   real(a_.alpha), "False"});
      case OperatorKind::layer_norm:
        return call("layer_norm",
                    {x(), "[" + std::to_string(s_.output.back()) + "]", own("weight"), own("bias"), real(a_.alpha)});
      case OperatorKind::group_norm:
        return call("group_norm", {x(), std::to_string(s_.groups), own("weight"), own("bias"), real(a_.alpha)});
      case OperatorKind::softmax:
        return call(s_.name == "log" ? "log_softmax" : "softmax", {x(), std::to_string(a_.axes.at(0))});
      case OperatorKind::reduce: return reduce();
      case OperatorKind::opaque: break;
    }
    throw InputError(describe(node_) + " is of a kind that TorchScript generation does not know");
  }

 private:
  const std::string& x() const { return inputs_[0]; }
  std::string own(const char* name) const { return std::string("self.") + name + "_" + std::to_string(index_); }
  std::string bias() const { return s_.bias ? own("bias") : "None"; }

  std::vector<std::string> operands() const {
    std::vector<std::string> result = inputs_;
    if (result.size() > 1) return result;
    const std::string constant = s_.constants.empty() ? real(a_.alpha) : own("weight");
    result.insert(a_.constant_first ? result.begin() : result.end(), constant);
    return result;
  }

  /// `x` with `value` around it where its padding is not the same on both sides.
  std::string padded(const char* value) const {
    const nasbench::Padding& p = a_.padding;
    if (is_symmetric(p)) return x();
    std::vector<int> pads = {p.left, p.right};
    if (s_.output.size() == 4) pads.insert(pads.end(), {p.top, p.bottom});
    return call("constant_pad_nd", {x(), list(pads), value});
  }

  std::string convolution() const {
    const nasbench::Padding zeros = own_padding(node_);
    const bool of_images = s_.output.size() == 4;
    const auto window = [&](const std::string& both, int width) {
      return of_images ? both : "[" + std::to_string(width) + "]";
    };
    std::vector<std::string> arguments = {padded("0.0"), own("weight"), bias(),
                                          window(pair(s_.stride), s_.stride.width), window(pair(zeros), zeros.left)};
    if (s_.dilation != nasbench::Extent{} || s_.groups != 1) {
      arguments.push_back(window(pair(s_.dilation), s_.dilation.width));
      arguments.push_back(std::to_string(s_.groups));
    }
    return call(of_images ? "conv2d" : "conv1d", arguments);
  }

  std::string max_pool() const {
    return call("max_pool2d", {padded("-3.4028234663852886e+38"), pair(s_.kernel), pair(s_.stride),
                               pair(own_padding(node_)), pair(s_.dilation), descriptor::text(a_.ceil_mode)});
  }

  std::string global_pool() const {
    std::vector<std::size_t> axes;
    for (std::size_t axis = 2; axis < s_.inputs[0].size(); ++axis) axes.push_back(axis);
    std::vector<std::string> arguments = {x(), list(axes)};
    if (keeps_dimensions(node_)) arguments.emplace_back("True");
    return call(s_.name == "max" ? "amax" : "mean", arguments);
  }

  std::string activation() const {
    const std::string& name = s_.name;
    if (name == "relu6") return call("hardtanh", {x(), "0.0", "6.0"});
    if (name == "clip") return call("clamp", {x(), real(a_.alpha), real(a_.beta)});
    if (name == "leaky_relu" || name == "elu") return call(name, {x(), real(a_.alpha)});
    if (name != "hard_sigmoid") return call(torch_functions().at(name), {x()});
    if (is_usual_hard_sigmoid(node_)) return call("hardsigmoid", {x()});
    return call("clamp", {x() + " * " + real(a_.alpha) + " + " + real(a_.beta), "0.0", "1.0"});
  }

  std::string elementwise() const {
    const std::vector<std::string> operands = this->operands();
    const std::string &left = operands[0], &right = operands[1];
    const bool number = inputs_.size() == 1 && s_.constants.empty();
    if (s_.name == "subtract") return left + " - " + right;
    if (s_.name == "divide") return left + " / " + right;
    if (s_.name == "power") return call("pow", {left, right});
    if (number && s_.name == "minimum") return call("clamp_max", {x(), real(a_.alpha)});
    if (number && s_.name == "maximum") return call("clamp_min", {x(), real(a_.alpha)});
    if (number && s_.name == "prelu") return call("leaky_relu", {x(), real(a_.alpha)});
    if (s_.name == "prelu") return call("where", {left + " > 0", left, left + " * " + right});
    return call(s_.name, {left, right});
  }

  std::string concatenate() const {
    std::vector<std::string> parts = inputs_;
    if (!s_.constants.empty()) {
      nasbench::Shape shape = s_.inputs[0];
      const auto axis = static_cast<std::size_t>(a_.axes.at(0));
      shape[axis] = s_.constants[0].at(axis);
      parts.insert(a_.constant_first ? parts.begin() : parts.end(), own("weight") + ".expand(" + list(shape) + ")");
    }
    return call("cat", {"[" + joined(parts) + "]", std::to_string(a_.axes.at(0))});
  }

  std::string split() const {
    if (s_.name != "slice") {
      const std::string only = node_.outputs.size() == 1 ? "[0]" : "";
      return call("split_with_sizes", {x(), list(split_sizes(node_)), std::to_string(a_.axes.at(0))}) + only;
    }
    if (!keeps_dimensions(node_))
      return call("select", {x(), std::to_string(a_.axes[0]), std::to_string(a_.starts[0])});
    std::string sliced = x();
    for (std::size_t i = 0; i < a_.axes.size(); ++i) {
      sliced = call("slice", {sliced, std::to_string(a_.axes[i]), std::to_string(a_.starts[i]),
                              std::to_string(slice_end(node_, i)), std::to_string(a_.steps[i])});
    }
    return sliced;
  }

  std::string shuffle() const {
    const nasbench::Shape groups = {s_.output[0], s_.groups, s_.output[1] / s_.groups, s_.output[2], s_.output[3]};
    return call("reshape", {call("transpose", {call("reshape", {x(), list(groups)}), "1", "2"}), list(s_.output)});
  }

  std::string pad() const {
    const std::string pads = list(pads_of(node_));
    if (a_.mode == "constant") return call("constant_pad_nd", {x(), pads, real(a_.alpha)});
    return call(a_.mode == "reflect" ? "reflection_pad2d" : "replication_pad2d", {x(), pads});
  }

  std::string resize() const {
    const std::string size = list(std::vector<std::int64_t>{s_.output[2], s_.output[3]});
    if (a_.mode == "nearest") return call("upsample_nearest2d", {x(), size, "None", "None"});
    return call(a_.mode == "cubic" ? "upsample_bicubic2d" : "upsample_bilinear2d",
                {x(), size, descriptor::text(a_.mode == "linear_aligned"), "None", "None"});
  }

  std::string reduce() const {
    return call(torch_reductions().at(s_.name), {x(), list(a_.axes), descriptor::text(keeps_dimensions(node_))});
  }

  const nasbench::NetworkNode& node_;
  const nasbench::OperatorSpecification& s_;
  const nasbench::OperatorAttributes& a_;
  std::size_t index_;
  std::vector<std::string> inputs_;
};

std::string value(const nasbench::Network& network, const nasbench::Source& source) {
  if (source.node < 0) return network.inputs.size() == 1 ? "x" : "x" + std::to_string(source.output);
  const std::string node = "t" + std::to_string(source.node);
  const bool single = network.nodes[static_cast<std::size_t>(source.node)].outputs.size() == 1;
  return single ? node : node + "[" + std::to_string(source.output) + "]";
}

std::vector<std::string> values(const nasbench::Network& network, const std::vector<nasbench::Source>& sources) {
  std::vector<std::string> names;
  for (const nasbench::Source& source : sources) names.push_back(value(network, source));
  return names;
}

}  // namespace

std::string torchscript_source(const nasbench::Network& network) {
  std::string source = "def forward(self";
  for (std::size_t i = 0; i < network.inputs.size(); ++i) source += ", " + value(network, {-1, static_cast<int>(i)});
  source += "):\n";
  for (std::size_t i = 0; i < network.nodes.size(); ++i) {
    const NodeExpression expression(network.nodes[i], i, values(network, network.nodes[i].inputs));
    source += "    t" + std::to_string(i) + " = " + expression.text() + "\n";
  }
  const std::vector<std::string> outputs = values(network, network.outputs);
  return source + "    return " + (outputs.size() == 1 ? outputs[0] : "[" + joined(outputs) + "]") + "\n";
}

}  // namespace tenshot::descriptor
