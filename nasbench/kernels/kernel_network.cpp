#include "nasbench/kernels/kernel_network.h"

#include <algorithm>
#include <map>

#include "nasbench/graph/network_builder.h"
#include "nasbench/support/error.h"
#include "nasbench/support/numbers_below.h"
#include "nasbench/support/text.h"
#include "nasbench/support/words.h"

namespace tenshot::nasbench {
namespace {

std::size_t index(int node) { return static_cast<std::size_t>(node); }

bool is_activation(const std::string& part) {
  static const auto functions = words_of("relu relu6 hard_swish hard_sigmoid silu sigmoid gelu tanh");
  return functions.count(part) != 0;
}

bool begins_kernels(const std::string& part) {
  static const auto kinds = words_of(
      "convolution depthwise_convolution linear max_pool average_pool global_pool batch_norm add multiply concatenate "
      "shuffle");
  return kinds.count(part) != 0 || is_activation(part);
}

bool may_follow(const std::string& part) {
  return is_activation(part) || part == "batch_norm" || part == "add" || part == "multiply";
}

class KernelMaker {
 public:
  explicit KernelMaker(const KernelSizes& sizes) : sizes_(sizes) {}

  Network make(const std::string& type) {
    const std::vector<std::string> parts = parts_between(type, "++");
    Source last = begin(parts.front());
    for (std::size_t i = 1; i < parts.size(); ++i) last = follow(parts[i], last);
    builder_.output(last);
    return builder_.take();
  }

 private:
  Source image(std::int64_t channels) {
    return builder_.input("input" + std::to_string(inputs_++), {1, channels, sizes_.image, sizes_.image});
  }

  Source begin(const std::string& part) {
    const WindowOptions window = same_window(sizes_.window, sizes_.stride);
    if (part == "linear") return builder_.linear(part, builder_.input("input", {1, sizes_.inputs}), sizes_.outputs);
    const Source x = image(sizes_.inputs);
    if (part == "convolution") return builder_.convolution(part, x, sizes_.outputs, {window, 1, true});
    if (part == "depthwise_convolution") {
      return builder_.convolution(part, x, sizes_.inputs, {window, sizes_.inputs, true});
    }
    if (part == "max_pool") return builder_.max_pool(part, x, {window, false, false});
    if (part == "average_pool") return builder_.average_pool(part, x, {window, false, true});
    if (part == "global_pool") return builder_.global_average_pool(part, x, true);
    if (part == "concatenate")
      return builder_.concatenate(part, {x, image(std::max(1, sizes_.outputs - sizes_.inputs))});
    if (part == "shuffle") return builder_.shuffle(part, x, 2);
    return follow(part, x);
  }

  Source follow(const std::string& part, const Source& x) {
    if (is_activation(part)) return builder_.activation(part, x, part);
    if (part == "batch_norm") return builder_.batch_norm(part, x);
    const Source other = builder_.input("input" + std::to_string(++inputs_), builder_.type(x).shape);
    return part == "add" ? builder_.add(part, x, other) : builder_.multiply(part, x, other);
  }

  const KernelSizes& sizes_;
  NetworkBuilder builder_;
  int inputs_ = 0;
};

}  // namespace

Network kernel_network(const Network& network, const Kernel& kernel) {
  if (kernel.nodes.empty()) throw InputError("a kernel without operators is no network");
  std::map<int, int> place;  // of the nodes in the kernel
  for (const int node : kernel.nodes) place.emplace(node, static_cast<int>(place.size()));
  Network result;
  std::map<Source, int> inputs;
  for (const int node : kernel.nodes) {
    NetworkNode copy = network.nodes[index(node)];
    for (Source& source : copy.inputs) {
      const auto inside = source.node < 0 ? place.end() : place.find(source.node);
      if (inside != place.end()) {
        source.node = inside->second;
        continue;
      }
      const auto [found, is_new] = inputs.emplace(source, static_cast<int>(inputs.size()));
      if (is_new) result.inputs.push_back({"input" + std::to_string(found->second), tensor_type(network, source)});
      source = {-1, found->second};
    }
    result.nodes.push_back(std::move(copy));
  }
  std::set<Source> read_outside(network.outputs.begin(), network.outputs.end());
  for (std::size_t i = 0; i < network.nodes.size(); ++i) {
    if (place.count(static_cast<int>(i)) != 0) continue;
    read_outside.insert(network.nodes[i].inputs.begin(), network.nodes[i].inputs.end());
  }
  for (const int node : kernel.nodes) {
    for (std::size_t output = 0; output < network.nodes[index(node)].outputs.size(); ++output) {
      if (read_outside.count({node, static_cast<int>(output)}) == 0) continue;
      result.outputs.push_back({place.at(node), static_cast<int>(output)});
    }
  }
  if (result.outputs.empty()) result.outputs.push_back({static_cast<int>(result.nodes.size()) - 1, 0});
  require_sound(result);
  return result;
}

const OperatorSpecification& leading_operator(const Network& network, const Kernel& kernel) {
  if (kernel.nodes.empty()) throw InputError("a kernel without operators has no first one");
  const auto works_less = [&](int a, int b) {
    return multiply_adds(network.nodes.at(index(a)).operation) < multiply_adds(network.nodes.at(index(b)).operation);
  };
  return network.nodes.at(index(*std::max_element(kernel.nodes.begin(), kernel.nodes.end(), works_less))).operation;
}

const OperatorSpecification& leading_operator(const Network& kernel) {
  return leading_operator(kernel, {numbers_below<int>(kernel.nodes.size()), ""});
}

std::string kernel_type(const Network& network, const Kernel& kernel) {
  std::vector<std::string> parts;
  for (const int node : kernel.nodes) {
    const std::string part = fusion_types(network.nodes.at(index(node)).operation).front();
    if (part != "batch_norm" || parts.empty()) parts.push_back(part);
  }
  return joined(parts, "++");
}

KernelSizes kernel_sizes(const OperatorSpecification& op) {
  const Shape& input = op.inputs.empty() ? op.output : op.inputs.front();
  const int image = input.size() == 4 ? static_cast<int>(input[2]) : 1;
  const auto inputs = static_cast<int>(channel_count(op, input));
  const auto outputs = static_cast<int>(channel_count(op, op.output));
  return {image, inputs, outputs, op.kernel.height, op.stride.height};
}

bool can_be_made(const std::string& type) {
  const std::vector<std::string> parts = parts_between(type, "++");
  return begins_kernels(parts.front()) && std::all_of(parts.begin() + 1, parts.end(), may_follow);
}

Network made_kernel(const std::string& type, const KernelSizes& sizes) {
  if (!can_be_made(type)) {
    throw InputError("kernels of type '" + excerpt(type) +
                     "' cannot be made from sizes; those can that begin with a convolution, a linear layer, a pool, an "
                     "activation, add, multiply, concatenate or shuffle, and go on element by element");
  }
  return KernelMaker(sizes).make(type);
}

}  // namespace tenshot::nasbench
