#include <algorithm>
#include <cmath>
#include <optional>

#include "nasbench/graph/network_reading.h"

namespace tenshot::nasbench {
namespace {

using Kind = OperatorKind;

bool is_near(double a, double b) { return std::abs(a - b) <= 1e-4 * std::abs(b); }

/// A group of nodes: the operator that stands for all, and the nodes before the last.
struct Match {
  NetworkNode node;
  std::vector<int> inner;
};

class NodeUses {
 public:
  explicit NodeUses(const Network& network) : network_(network), uses_(network.nodes.size(), 0) {
    for (const NetworkNode& node : network.nodes) count(node.inputs, 1);
    count(network.outputs, 1);
  }

  void count(const std::vector<Source>& sources, int change) {
    for (const Source& source : sources) {
      if (source.node >= 0) uses_[static_cast<std::size_t>(source.node)] += change;
    }
  }

  int of(int node) const { return uses_[static_cast<std::size_t>(node)]; }
  const NetworkNode& node(int index) const { return network_.nodes[static_cast<std::size_t>(index)]; }

  /// The node that gives `source`, if it is of that kind, and of that name if one is given, and has no other reader.
  const NetworkNode* inner(const Source& source, Kind kind, const char* name = nullptr) const {
    if (source.node < 0) return nullptr;
    const NetworkNode& found = node(source.node);
    const bool fits = found.operation.kind == kind && (name == nullptr || found.operation.name == name);
    return fits && of(source.node) == 1 && found.outputs.size() == 1 ? &found : nullptr;
  }

  /// The same of an input of `reader`, which may be a null pointer.
  const NetworkNode* before(const NetworkNode* reader, Kind kind, const char* name = nullptr,
                            std::size_t input = 0) const {
    if (reader == nullptr || input >= reader->inputs.size()) return nullptr;
    return inner(reader->inputs[input], kind, name);
  }

 private:
  const Network& network_;
  std::vector<int> uses_;
};

/// An operation of one tensor and the constant `value`, which is a single number.
bool has_constant(const NetworkNode* node, double value) {
  return node != nullptr && node->inputs.size() == 1 && node->operation.constants.empty() &&
         is_near(node->attributes.alpha, value);
}

/// An operation of one tensor and a constant of `elements` numbers.
bool has_vector(const NetworkNode& node, std::int64_t elements) {
  return node.inputs.size() == 1 && node.operation.constants.size() == 1 &&
         element_count(node.operation.constants[0]) == elements;
}

NetworkNode like(const NetworkNode& last, Kind kind, std::vector<Source> inputs, std::string name = "") {
  NetworkNode node;
  node.operation.kind = kind;
  node.operation.name = std::move(name);
  node.operation.type = last.operation.type;
  node.name = last.name;
  node.inputs = std::move(inputs);
  return node;
}

std::optional<Match> biased_linear(const NodeUses& nodes, const NetworkNode& last) {
  if (last.operation.kind != Kind::add || last.operation.output.empty()) return std::nullopt;
  const std::int64_t units = last.operation.output.back();
  if (!has_vector(last, units) || last.operation.constants[0].back() != units) return std::nullopt;
  const NetworkNode* linear = nodes.inner(last.inputs[0], Kind::linear);
  if (linear == nullptr || linear->operation.bias) return std::nullopt;
  Match match{*linear, {last.inputs[0].node}};
  match.node.operation.bias = true;
  return match;
}

std::optional<Match> flat_pool(const NodeUses& nodes, const NetworkNode& last) {
  if (last.operation.kind != Kind::reshape || last.operation.output.size() != 2) return std::nullopt;
  const NetworkNode* pool = nodes.inner(last.inputs[0], Kind::global_pool);
  if (pool == nullptr || pool->operation.output[0] != last.operation.output[0]) return std::nullopt;
  return Match{*pool, {last.inputs[0].node}};
}

std::optional<Match> single_reshape(const NodeUses& nodes, const NetworkNode& last) {
  if (last.operation.kind != Kind::reshape) return std::nullopt;
  const NetworkNode* first = nodes.inner(last.inputs[0], Kind::reshape);
  if (first == nullptr) return std::nullopt;
  return Match{like(last, Kind::reshape, first->inputs), {last.inputs[0].node}};
}

std::optional<Match> shuffle(const NodeUses& nodes, const NetworkNode& last) {
  if (last.operation.kind != Kind::reshape || last.operation.output.size() != 4) return std::nullopt;
  const NetworkNode* swapped = nodes.inner(last.inputs[0], Kind::transpose);
  const NetworkNode* grouped = nodes.before(swapped, Kind::reshape);
  if (grouped == nullptr || grouped->operation.inputs[0] != last.operation.output) return std::nullopt;
  if (swapped->attributes.axes != std::vector<std::int64_t>{0, 2, 1, 3, 4}) return std::nullopt;
  const Shape &image = last.operation.output, &parts = grouped->operation.output;
  if (parts[0] != image[0] || parts[3] != image[2] || parts[4] != image[3]) return std::nullopt;
  Match match{like(last, Kind::shuffle, grouped->inputs), {last.inputs[0].node, swapped->inputs[0].node}};
  match.node.operation.groups = static_cast<int>(parts[1]);
  return match;
}

/// relu6(x + 3) / 6 or · 1/6.
std::optional<Match> hard_sigmoid(const NodeUses& nodes, const NetworkNode& last) {
  const bool divided = last.operation.kind == Kind::elementwise && last.operation.name == "divide" &&
                       !last.attributes.constant_first && has_constant(&last, 6);
  if (!divided && !(last.operation.kind == Kind::multiply && has_constant(&last, 1.0 / 6))) return std::nullopt;
  const NetworkNode* relu6 = nodes.inner(last.inputs[0], Kind::activation, "relu6");
  const NetworkNode* sum = nodes.before(relu6, Kind::add);
  if (!has_constant(sum, 3)) return std::nullopt;
  Match match{like(last, Kind::activation, sum->inputs, "hard_sigmoid"), {last.inputs[0].node, relu6->inputs[0].node}};
  match.node.attributes.alpha = static_cast<double>(1.0F / 6);
  match.node.attributes.beta = 0.5;
  return match;
}

/// x · sigmoid(x), x · hard_sigmoid(x).
std::optional<Match> gated(const NodeUses& nodes, const NetworkNode& last) {
  if (last.operation.kind != Kind::multiply || last.inputs.size() != 2) return std::nullopt;
  for (const std::size_t side : {0U, 1U}) {
    const Source source = last.inputs[side];
    const NetworkNode* gate = nodes.inner(source, Kind::activation);
    if (gate == nullptr || gate->inputs[0] != last.inputs[1 - side]) continue;
    const bool hard = gate->operation.name == "hard_sigmoid" && is_near(gate->attributes.alpha, 1.0 / 6) &&
                      is_near(gate->attributes.beta, 0.5);
    if (gate->operation.name != "sigmoid" && !hard) continue;
    return Match{like(last, Kind::activation, gate->inputs, hard ? "hard_swish" : "silu"), {source.node}};
  }
  return std::nullopt;
}

/// 1 + erf(x / √2) as the GELU of x, with the nodes of the factor.
std::optional<Match> error_function(const NodeUses& nodes, const Source& source) {
  const NetworkNode* sum = nodes.inner(source, Kind::add);
  if (!has_constant(sum, 1)) return std::nullopt;
  const NetworkNode* erf = nodes.before(sum, Kind::activation, "erf");
  const NetworkNode* scaled = nodes.before(erf, Kind::elementwise, "divide");
  if (scaled == nullptr) scaled = nodes.before(erf, Kind::multiply);
  if (!has_constant(scaled, std::sqrt(2.0)) && !has_constant(scaled, std::sqrt(0.5))) return std::nullopt;
  if ((scaled->operation.kind == Kind::multiply) != has_constant(scaled, std::sqrt(0.5))) return std::nullopt;
  return Match{like(*scaled, Kind::activation, scaled->inputs, "gelu"),
               {source.node, sum->inputs[0].node, erf->inputs[0].node}};
}

/// (x · (1 + erf)) · ½, or (x · ½) · (1 + erf).
std::optional<Match> gelu(const NodeUses& nodes, const NetworkNode& last) {
  if (last.operation.kind != Kind::multiply) return std::nullopt;
  const bool half_last = has_constant(&last, 0.5);
  const NetworkNode* product = half_last ? nodes.inner(last.inputs[0], Kind::multiply) : &last;
  if (product == nullptr || product->inputs.size() != 2) return std::nullopt;
  for (const std::size_t side : {0U, 1U}) {
    std::optional<Match> match = error_function(nodes, product->inputs[side]);
    if (!match) continue;
    const Source other = product->inputs[1 - side], x = match->node.inputs[0];
    const NetworkNode* half = nodes.inner(other, Kind::multiply);
    if (half_last && other == x) {
      match->inner.push_back(last.inputs[0].node);
    } else if (!half_last && has_constant(half, 0.5) && half->inputs[0] == x) {
      match->inner.push_back(other.node);
    } else {
      continue;
    }
    match->node.name = last.name;
    return match;
  }
  return std::nullopt;
}

bool is_last_axis_mean(const NetworkNode* node) {
  if (node == nullptr || node->operation.name != "mean" || node->attributes.axes.size() != 1) return false;
  const Shape& shape = node->operation.inputs[0];
  return node->operation.output.size() == shape.size() &&
         node->attributes.axes[0] + 1 == static_cast<std::int64_t>(shape.size());
}

/// ((x − mean) / √(mean((x − mean)²) + ε)) · scale + shift, over the last axis.
std::optional<Match> layer_norm(const NodeUses& nodes, const NetworkNode& shift) {
  if (shift.operation.kind != Kind::add || shift.operation.output.empty()) return std::nullopt;
  const std::int64_t channels = shift.operation.output.back();
  if (!has_vector(shift, channels)) return std::nullopt;
  const NetworkNode* scale = nodes.inner(shift.inputs[0], Kind::multiply);
  const NetworkNode* ratio = nodes.before(scale, Kind::elementwise, "divide");
  const NetworkNode* root = nodes.before(ratio, Kind::activation, "sqrt", 1);
  const NetworkNode* sum = nodes.before(root, Kind::add);
  const NetworkNode* variance = nodes.before(sum, Kind::reduce);
  const NetworkNode* square = nodes.before(variance, Kind::elementwise, "power");
  if (!has_constant(square, 2) || !has_vector(*scale, channels) || ratio->inputs.size() != 2 ||
      sum->inputs.size() != 1 || !sum->operation.constants.empty() || !is_last_axis_mean(variance)) {
    return std::nullopt;
  }
  const Source centred = ratio->inputs[0];
  if (square->inputs[0] != centred || centred.node < 0) return std::nullopt;
  const NetworkNode& difference = nodes.node(centred.node);
  if (difference.operation.name != "subtract" || difference.inputs.size() != 2 || nodes.of(centred.node) != 2) {
    return std::nullopt;
  }
  const NetworkNode* mean = nodes.inner(difference.inputs[1], Kind::reduce);
  if (!is_last_axis_mean(mean) || mean->inputs[0] != difference.inputs[0]) return std::nullopt;
  Match match{like(shift, Kind::layer_norm, mean->inputs),
              {shift.inputs[0].node, scale->inputs[0].node, ratio->inputs[1].node, root->inputs[0].node,
               sum->inputs[0].node, variance->inputs[0].node, centred.node, difference.inputs[1].node}};
  match.node.attributes.axes = mean->attributes.axes;
  match.node.attributes.alpha = sum->attributes.alpha;
  return match;
}

std::optional<Match> group_norm(const NodeUses& nodes, const NetworkNode& shift) {
  if (shift.operation.kind != Kind::add || shift.operation.output.size() < 3) return std::nullopt;
  const Shape& image = shift.operation.output;
  if (!has_vector(shift, image[1])) return std::nullopt;
  const NetworkNode* scale = nodes.inner(shift.inputs[0], Kind::multiply);
  const NetworkNode* restored = nodes.before(scale, Kind::reshape);
  const NetworkNode* norm = nodes.before(restored, Kind::group_norm);
  const NetworkNode* grouped = nodes.before(norm, Kind::reshape);
  if (grouped == nullptr || !has_vector(*scale, image[1]) || grouped->operation.inputs[0] != image ||
      grouped->operation.output[0] != image[0]) {
    return std::nullopt;
  }
  Match match{like(shift, Kind::group_norm, grouped->inputs),
              {shift.inputs[0].node, scale->inputs[0].node, restored->inputs[0].node, norm->inputs[0].node}};
  match.node.operation.groups = norm->operation.groups;
  match.node.attributes.alpha = norm->attributes.alpha;
  return match;
}

using Pattern = std::optional<Match> (*)(const NodeUses&, const NetworkNode&);
constexpr Pattern patterns[] = {biased_linear, flat_pool, single_reshape, shuffle,   hard_sigmoid,
                                gated,         gelu,      layer_norm,     group_norm};

/// Merges nodes in place; what is merged away is dead until compact().
class Merger {
 public:
  explicit Merger(Network network)
      : network_(std::move(network)), uses_(network_), dead_(network_.nodes.size(), false) {}

  Network run() {
    drop_unused();
    for (std::size_t i = 0; i < network_.nodes.size(); ++i) {
      if (dead_[i]) continue;
      redirect(network_.nodes[i].inputs);
      for (const Pattern pattern : patterns) {
        if (std::optional<Match> match = pattern(uses_, network_.nodes[i])) replace(i, std::move(*match));
      }
      if (changes_nothing(network_.nodes[i])) aliases_[{static_cast<int>(i), 0}] = network_.nodes[i].inputs[0];
    }
    redirect(network_.outputs);
    drop_unused();
    return compact();
  }

 private:
  void replace(std::size_t i, Match match) {
    NetworkNode& node = match.node;
    node.stored = network_.nodes[i].stored;
    for (const int inner : match.inner) {
      const std::vector<StoredTensor>& more = network_.nodes[static_cast<std::size_t>(inner)].stored;
      node.stored.insert(node.stored.end(), more.begin(), more.end());
      kill(static_cast<std::size_t>(inner));
    }
    uses_.count(network_.nodes[i].inputs, -1);
    uses_.count(node.inputs, 1);
    node.outputs = {{network_.nodes[i].outputs[0].shape, node.operation.type}};
    node.operation.output = node.outputs[0].shape;
    node.operation.inputs.clear();
    for (const Source& source : node.inputs) node.operation.inputs.push_back(tensor_type(network_, source).shape);
    network_.nodes[i] = std::move(node);
  }

  static bool changes_nothing(const NetworkNode& node) {
    const bool moves_nothing = node.operation.kind == Kind::reshape || node.operation.kind == Kind::pad;
    return moves_nothing && node.operation.inputs[0] == node.operation.output &&
           std::all_of(node.attributes.starts.begin(), node.attributes.starts.end(),
                       [](std::int64_t zeros) { return zeros == 0; });
  }

  /// Readers of a node that changes nothing read its input.
  void redirect(std::vector<Source>& sources) {
    if (aliases_.empty()) return;
    uses_.count(sources, -1);
    for (Source& source : sources) {
      if (const auto alias = aliases_.find(source); alias != aliases_.end()) source = alias->second;
    }
    uses_.count(sources, 1);
  }

  void kill(std::size_t i) {
    if (dead_[i]) return;
    dead_[i] = true;
    uses_.count(network_.nodes[i].inputs, -1);
  }

  void drop_unused() {
    for (std::size_t i = network_.nodes.size(); i > 0; --i) {
      if (uses_.of(static_cast<int>(i) - 1) == 0) kill(i - 1);
    }
  }

  Network compact() {
    std::vector<int> places(network_.nodes.size(), -1);
    const auto move_sources = [&](std::vector<Source>& sources) {
      for (Source& source : sources) {
        if (source.node >= 0) source.node = places[static_cast<std::size_t>(source.node)];
      }
    };
    std::size_t next = 0;
    for (std::size_t i = 0; i < network_.nodes.size(); ++i) {
      if (dead_[i]) continue;
      move_sources(network_.nodes[i].inputs);
      places[i] = static_cast<int>(next);
      if (next != i) network_.nodes[next] = std::move(network_.nodes[i]);
      ++next;
    }
    network_.nodes.resize(next);
    move_sources(network_.outputs);
    return std::move(network_);
  }

  Network network_;
  NodeUses uses_;
  std::vector<bool> dead_;
  std::map<Source, Source> aliases_;
};

}  // namespace

Network simplified(Network network) { return Merger(std::move(network)).run(); }

}  // namespace tenshot::nasbench
