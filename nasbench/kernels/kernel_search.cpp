#include "nasbench/kernels/kernel_search.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <queue>

#include "nasbench/support/text.h"

namespace tenshot::nasbench {
namespace {

/// Reader that stands for the caller, where a tensor is an output of the network.
constexpr int outside = -1;

class KernelSearch {
 public:
  KernelSearch(const Network& network, const FusionRules& rules)
      : network_(network), rules_(rules), readers_(network.nodes.size()), kernel_of_(network.nodes.size()) {
    for (std::size_t i = 0; i < network.nodes.size(); ++i) {
      kernel_of_[i] = static_cast<int>(i);
      members_.push_back({static_cast<int>(i)});
      for (const Source& source : network.nodes[i].inputs) {
        if (source.node >= 0) readers_[index(source.node)].insert(static_cast<int>(i));
      }
    }
    for (const Source& output : network.outputs) {
      if (output.node >= 0) readers_[index(output.node)].insert(outside);
    }
  }

  std::vector<Kernel> run() {
    for (std::size_t i = 0; i < network_.nodes.size(); ++i) {
      const int kernel = joined_kernel(static_cast<int>(i));
      if (kernel < 0) continue;
      members_[index(kernel)].push_back(static_cast<int>(i));
      members_[i].clear();
      kernel_of_[i] = kernel;
    }
    return in_order_of_execution();
  }

 private:
  static std::size_t index(int node) { return static_cast<std::size_t>(node); }

  /// The inputs whose kernels a node may join.
  std::vector<Source> candidates(const NetworkNode& node) const {
    if (rules_.multi_inbound != BranchRule::latest || node.inputs.empty()) return node.inputs;
    const bool same_shapes = std::all_of(node.operation.inputs.begin(), node.operation.inputs.end(),
                                         [&](const Shape& shape) { return shape == node.operation.output; });
    const auto chosen = same_shapes ? std::max_element(node.inputs.begin(), node.inputs.end()) : node.inputs.begin();
    const bool alone = chosen->node >= 0 && network_.nodes[index(chosen->node)].outputs.size() == 1;
    return alone ? std::vector<Source>{*chosen} : std::vector<Source>{};
  }

  int joined_kernel(int node) const {
    std::vector<int> inbounds;  // kernels, −1 for an input of the network, in the order of the inputs
    for (const Source& source : candidates(network_.nodes[index(node)])) {
      const int kernel = source.node < 0 ? -1 : kernel_of_[index(source.node)];
      if (kernel < 0 || std::find(inbounds.begin(), inbounds.end(), kernel) == inbounds.end())
        inbounds.push_back(kernel);
    }
    if (inbounds.size() > 1 && rules_.multi_inbound == BranchRule::none) return -1;
    if (rules_.multi_inbound == BranchRule::last) std::reverse(inbounds.begin(), inbounds.end());
    for (const int kernel : inbounds) {
      if (kernel >= 0 && may_fuse(kernel, node)) return kernel;
    }
    return -1;
  }

  bool may_fuse(int kernel, int node) const {
    const NetworkNode& first = network_.nodes[index(members_[index(kernel)].front())];
    if (!rules_.fuses(first.operation, network_.nodes[index(node)].operation)) return false;
    for (const Source& source : network_.nodes[index(node)].inputs) {
      const bool inside = source.node >= 0 && kernel_of_[index(source.node)] == kernel;
      if (inside && !is_chosen_reader(source.node, node)) return false;
    }
    return readers_of(kernel).size() == 1 || !leads_to(kernel, node);
  }

  /// Whether `node` is the one of an operator's readers that may fuse with it.
  bool is_chosen_reader(int producer, int node) const {
    const std::set<int>& readers = readers_[index(producer)];
    if (readers.size() == 1) return true;
    if (rules_.multi_outbound == BranchRule::none) return false;
    // The caller of the network reads after all operators, though its number is the lowest.
    const bool is_output = *readers.begin() == outside;
    if (rules_.multi_outbound == BranchRule::last) return !is_output && *readers.rbegin() == node;
    return *std::next(readers.begin(), is_output ? 1 : 0) == node;
  }

  /// Nodes outside of a kernel that read what it computes.
  std::set<int> readers_of(int kernel) const {
    std::set<int> readers;
    for (const int member : members_[index(kernel)]) {
      for (const int reader : readers_[index(member)]) {
        if (reader == outside || kernel_of_[index(reader)] != kernel) readers.insert(reader);
      }
    }
    return readers;
  }

  /// Whether `node` waits for `kernel` by way of another kernel.
  bool leads_to(int kernel, int node) const {
    std::set<int> seen;
    std::vector<int> open;
    const auto visit = [&](const std::set<int>& readers, bool from_kernel) {
      for (const int reader : readers) {
        if (reader == outside || (from_kernel && reader == node)) continue;
        if (seen.insert(kernel_of_[index(reader)]).second) open.push_back(kernel_of_[index(reader)]);
      }
    };
    visit(readers_of(kernel), true);
    while (!open.empty()) {
      const int next = open.back();
      open.pop_back();
      if (next == kernel_of_[index(node)]) return true;
      visit(readers_of(next), false);
    }
    return false;
  }

  /// Kernels such that each one comes after what it reads; among those that are ready, the one that begins first.
  std::vector<Kernel> in_order_of_execution() const {
    std::vector<int> waiting(members_.size(), 0);
    for (std::size_t k = 0; k < members_.size(); ++k) {
      for (const int reader : kernels_reading(static_cast<int>(k))) ++waiting[index(reader)];
    }
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (std::size_t k = 0; k < members_.size(); ++k) {
      if (!members_[k].empty() && waiting[k] == 0) ready.push(static_cast<int>(k));
    }
    std::vector<Kernel> kernels;
    while (!ready.empty()) {
      const int next = ready.top();
      ready.pop();
      const std::string name = kernel_name(network_, members_[index(next)]);
      const NetworkNode& first = network_.nodes[index(members_[index(next)].front())];
      kernels.push_back({members_[index(next)], with_chosen_kernel(rules_, name, first.operation)});
      for (const int reader : kernels_reading(next)) {
        if (--waiting[index(reader)] == 0) ready.push(reader);
      }
    }
    return kernels;
  }

  std::set<int> kernels_reading(int kernel) const {
    std::set<int> kernels;
    for (const int reader : readers_of(kernel)) {
      if (reader != outside) kernels.insert(kernel_of_[index(reader)]);
    }
    return kernels;
  }

  const Network& network_;
  const FusionRules& rules_;
  std::vector<std::set<int>> readers_;     ///< of each node
  std::vector<int> kernel_of_;             ///< of each node: a kernel is known by its first node
  std::vector<std::vector<int>> members_;  ///< of each kernel; none of a node that has joined another
};

}  // namespace

std::string kernel_name(const Network& network, const std::vector<int>& nodes) {
  std::vector<std::string> types;
  for (const int node : nodes)
    types.push_back(fusion_types(network.nodes[static_cast<std::size_t>(node)].operation).front());
  return joined(types, "++");
}

std::string with_chosen_kernel(const FusionRules& rules, const std::string& name, const OperatorSpecification& first) {
  const std::string type = fusion_types(first).front();
  if (name.rfind(type, 0) != 0) return name;
  return chosen_kernel(rules.kernels, first, type) + name.substr(type.size());
}

std::vector<Kernel> find_kernels(const Network& network, const FusionRules& rules) {
  return KernelSearch(network, rules).run();
}

}  // namespace tenshot::nasbench
