#include "nasbench/graph/network.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"

namespace tenshot::nasbench {
namespace {

auto key(const OperatorAttributes& a) {
  return std::tie(a.padding, a.ceil_mode, a.count_padding, a.constant_first, a.axes, a.starts, a.ends, a.steps, a.alpha,
                  a.beta, a.mode);
}

template <class Numbers>
std::string listed(const char* label, const Numbers& numbers) {
  std::string text;
  for (const auto number : numbers) text += (text.empty() ? std::string(label) : ",") + std::to_string(number);
  return text;
}

/// Everything of a node but its name and its sources.
std::string canonical_text(const NetworkNode& node) {
  const OperatorAttributes& a = node.attributes;
  std::string text = format(node.operation);
  text += listed(" padding ", std::vector<int>{a.padding.top, a.padding.left, a.padding.bottom, a.padding.right});
  text += std::string(a.ceil_mode ? " ceil" : "") + (a.count_padding ? " padded" : "");
  text += std::string(a.constant_first ? " constant first" : "");
  text +=
      listed(" axes ", a.axes) + listed(" starts ", a.starts) + listed(" ends ", a.ends) + listed(" steps ", a.steps);
  // Files hold these numbers in single precision.
  text += " alpha " + shortest(static_cast<double>(static_cast<float>(a.alpha))) + " beta " +
          shortest(static_cast<double>(static_cast<float>(a.beta))) + " mode " + a.mode;
  for (const TensorType& output : node.outputs) {
    text += listed(" output ", output.shape) + " of type " + std::to_string(static_cast<int>(output.type));
  }
  return text;
}

std::string place_of(const NetworkNode& node, std::size_t index) {
  return "node '" + node.name + "' (" + std::string(name(node.operation.kind)) + ", number " + std::to_string(index) +
         ")";
}

bool exists_before(const Network& network, const Source& source, std::size_t index) {
  if (source.output < 0 || source.node < -1) return false;
  const auto output = static_cast<std::size_t>(source.output);
  if (source.node == -1) return output < network.inputs.size();
  const auto node = static_cast<std::size_t>(source.node);
  return node < index && output < network.nodes[node].outputs.size();
}

std::int64_t sum_over(const Network& network, std::int64_t (*count)(const OperatorSpecification&)) {
  std::int64_t sum = 0;
  for (const NetworkNode& node : network.nodes) sum += count(node.operation);
  return sum;
}

}  // namespace

bool operator==(const OperatorAttributes& a, const OperatorAttributes& b) { return key(a) == key(b); }

const TensorType& tensor_type(const Network& network, const Source& source) {
  const auto output = static_cast<std::size_t>(source.output);
  if (source.node < 0) return network.inputs.at(output).type;
  return network.nodes.at(static_cast<std::size_t>(source.node)).outputs.at(output);
}

std::vector<OperatorSpecification> operator_list(const Network& network) {
  std::vector<OperatorSpecification> operators;
  for (const NetworkNode& node : network.nodes) operators.push_back(node.operation);
  return operators;
}

std::int64_t multiply_adds(const Network& network) { return sum_over(network, multiply_adds); }

std::vector<std::int64_t> stored_parameters(const Network& network) {
  std::vector<std::int64_t> counts;
  std::map<std::string, std::int64_t> counted;  // numbers of each tensor
  for (const NetworkNode& node : network.nodes) {
    const std::int64_t implied = parameter_count(node.operation);
    if ((!network.names_stored && node.stored.empty()) || implied == 0) {
      counts.push_back(implied);
      continue;
    }
    const bool may_lack_scale = is_norm(node.operation.kind) && !node.stored.empty();
    const int bits = node.operation.weight_bits;  // fewer than 8: the file packs several into one of its numbers
    const bool is_implied = !may_lack_scale && (node.operation.constants.empty() || (bits > 0 && bits < 8));
    std::int64_t count = 0, rest = is_implied ? implied : std::numeric_limits<std::int64_t>::max();
    for (const StoredTensor& tensor : node.stored) {
      const std::int64_t part = std::min(rest, tensor.elements);
      rest -= part;
      if (tensor.name.empty()) continue;  // it is computed from none that the file stores
      std::int64_t& before = counted[tensor.name];
      const std::int64_t more = std::min(part, tensor.elements - before);
      before += more;
      count += more;
    }
    if (is_implied) count += rest;
    counts.push_back(may_lack_scale ? std::min(implied, count) : count);
  }
  return counts;
}

std::int64_t parameter_count(const Network& network) {
  const std::vector<std::int64_t> counts = stored_parameters(network);
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

std::int64_t weight_bytes(const Network& network) { return sum_over(network, weight_bytes); }

std::string content_hash(const Network& network) {
  std::vector<std::string> node_hashes;
  const auto hash_of = [&](const Source& source) {
    const std::string origin = source.node < 0 ? "input" : node_hashes[static_cast<std::size_t>(source.node)];
    return origin + "/" + std::to_string(source.output);
  };
  std::string text;
  for (const NetworkInput& input : network.inputs) {
    text += listed("input ", input.type.shape) + " of type " + std::to_string(static_cast<int>(input.type.type)) + "\n";
  }
  for (const NetworkNode& node : network.nodes) {
    std::string own = canonical_text(node);
    for (const Source& source : node.inputs) own += "\n" + hash_of(source);
    node_hashes.push_back(sha256_hex(own));
  }
  for (const Source& output : network.outputs) text += "output " + hash_of(output) + "\n";
  std::sort(node_hashes.begin(), node_hashes.end());  // equal nodes count as often as they stand there
  for (const std::string& hash : node_hashes) text += hash + "\n";
  return sha256_hex(text);
}

void require_sound(const Network& network) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < network.nodes.size(); ++i) {
    const NetworkNode& node = network.nodes[i];
    if (node.name.empty() || !names.insert(node.name).second) {
      throw InputError(place_of(node, i) + ": its name is empty or taken; names of nodes are unique");
    }
    if (node.inputs.size() != node.operation.inputs.size() || node.outputs.empty() ||
        node.outputs.front().shape != node.operation.output) {
      throw InputError(place_of(node, i) + ": its inputs and outputs do not agree with its specification");
    }
    for (std::size_t input = 0; input < node.inputs.size(); ++input) {
      if (!exists_before(network, node.inputs[input], i)) {
        throw InputError(place_of(node, i) + ": its input " + std::to_string(input) +
                         " is no tensor of an earlier node");
      }
      if (tensor_type(network, node.inputs[input]).shape != node.operation.inputs[input]) {
        throw InputError(place_of(node, i) + ": the shape of its input " + std::to_string(input) +
                         " is not that of the tensor");
      }
    }
  }
  for (const Source& output : network.outputs) {
    if (!exists_before(network, output, network.nodes.size())) {
      throw InputError("an output of the network is no tensor of it: node " + std::to_string(output.node) +
                       ", output " + std::to_string(output.output));
    }
  }
}

}  // namespace tenshot::nasbench
