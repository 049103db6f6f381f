#include "trainer/predictors/help/meta_network.h"

#include <torch/torch.h>

#include <cmath>

#include "nasbench/spaces/cell.h"
#include "nasbench/support/error.h"
#include "nasbench/support/random.h"
#include "nasbench/support/vector_loops.h"

namespace tenshot::trainer {
namespace {

constexpr std::int64_t width = 100;  ///< of architecture code and hardware embedding
constexpr float first_step_size = 0.01F;

/// Where the layers stand in the parameters: weight [out, in], then bias [out]; those from encode1 on are adapted.
enum Layer : std::size_t { set1, set2, modulate1, modulate2, encode1 };

using Tensors = std::vector<at::Tensor>;

at::Tensor tensor(const std::vector<float>& values, std::int64_t rows) {
  return torch::tensor(values).view({rows, -1});
}

at::Tensor linear(const Tensors& parameters, std::size_t layer, const at::Tensor& x) {
  return torch::addmm(parameters[2 * layer + 1], x, parameters[2 * layer].t());
}

/// The predictor. Its encoder convolves over a graph: a layer sums what a node hears of the others, and the last node
/// is read. The nodes of a NAS-Bench-201 cell are, as Dudziak et al. (BRP-NAS, NeurIPS 2020) and HELP have it, the six
/// operations, the input, the output and a global node; every node hears itself and those before it, the global one
/// hears all. One node that holds the whole encoding makes the encoder fully connected.
struct Encoder {
  Encoder(std::int64_t inputs, bool cells)
      : nodes(cells ? 9 : 1),
        features(cells ? 8 : inputs),
        graph_layers(cells ? 4 : 2),
        adjacency(torch::eye(nodes)),
        placement(torch::eye(inputs)),
        constant(torch::zeros({nodes * features})) {
    if (!cells) return;
    constexpr std::int64_t edges = nasbench::edge_count, options = nasbench::operation_count;
    placement = torch::cat({torch::kron(torch::eye(edges), torch::eye(features, options)),
                            torch::zeros({(nodes - edges) * features, inputs})});
    for (std::int64_t node = edges; node < nodes; ++node) constant[node * features + options + node - edges] = 1;
    adjacency[nodes - 1].fill_(1);
    for (std::int64_t e = 0; e < edges; ++e) {
      const nasbench::Edge edge = nasbench::edges[static_cast<std::size_t>(e)];
      if (edge.source == 0) adjacency[e][edges] = 1;
      if (edge.target == nasbench::node_count - 1) adjacency[edges + 1][e] = 1;
      for (std::int64_t before = 0; before < e; ++before) {
        if (nasbench::edges[static_cast<std::size_t>(before)].target == edge.source) adjacency[e][before] = 1;
      }
    }
  }

  std::size_t join() const { return encode1 + static_cast<std::size_t>(graph_layers); }
  std::size_t layers() const { return join() + 3; }

  /// `encoding` [rows, inputs] and the embedding [1, width] to [rows, 1].
  at::Tensor predict(const Tensors& p, const at::Tensor& encoding, const at::Tensor& embedding) const {
    at::Tensor code = torch::addmm(constant, encoding, placement.t()).view({-1, nodes, features});
    for (std::size_t l = encode1; l < join(); ++l) {
      code = torch::relu(torch::matmul(adjacency, torch::matmul(code, p[2 * l].t())) + p[2 * l + 1]);
    }
    const at::Tensor joined = torch::cat({code.select(1, nodes - 1), embedding.expand({code.size(0), width})}, 1);
    return linear(p, join() + 2, torch::relu(linear(p, join() + 1, torch::relu(linear(p, join(), joined)))));
  }

  /// An encoder layer over all nodes at once, [weight, bias]: the first takes the encoding, the last gives one node.
  std::pair<at::Tensor, at::Tensor> unrolled(const Tensors& p, std::size_t layer) const {
    at::Tensor weight = torch::kron(adjacency, p[2 * layer]), bias = p[2 * layer + 1].repeat({nodes});
    if (layer == encode1) {
      bias = bias + torch::mv(weight, constant);
      weight = torch::mm(weight, placement);
    }
    if (layer + 1 < join()) return {weight, bias};
    return {weight.slice(0, (nodes - 1) * width), bias.slice(0, (nodes - 1) * width)};
  }

  std::int64_t nodes, features, graph_layers;
  at::Tensor adjacency;  ///< [nodes, nodes]: row i says whom node i hears
  at::Tensor placement;  ///< [nodes · features, inputs]: features are placement · encoding + constant
  at::Tensor constant;
};

std::vector<float> values_of(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.detach().contiguous().view({-1});
  return {flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel()};
}

class TorchMetaNetwork final : public MetaNetwork {
 public:
  TorchMetaNetwork(int inputs, bool cells, std::uint64_t seed) : encoder_(inputs, cells) {
    const auto adapted = static_cast<std::int64_t>(encoder_.layers() - encode1);
    shapes_ = {{width, inputs + 1}, {width, width}, {width, width}, {adapted, width}, {width, encoder_.features}};
    shapes_.resize(encoder_.join(), {width, width});
    shapes_.insert(shapes_.end(), {{2 * width, 2 * width}, {2 * width, 2 * width}, {1, 2 * width}});
    Rng rng(seed, 11);
    std::vector<float>& values = adam_.parameters;
    std::size_t fixed = 0;
    for (std::size_t l = 0; l < shapes_.size(); ++l) {
      const auto [outputs, of] = shapes_[l];
      // The modulator starts as "no change", so that the first episodes train a plain network.
      const double bound = l == modulate2 ? 0 : 1 / std::sqrt(static_cast<double>(of));
      if (l == encode1) fixed = values.size();
      for (std::int64_t i = 0; i < outputs * (of + 1); ++i) {
        values.push_back(static_cast<float>(bound * (2 * rng.uniform() - 1)));
      }
    }
    values.resize(2 * values.size() - fixed, first_step_size);
    adam_.first_moment.resize(values.size());
    adam_.second_moment.resize(values.size());
  }

  double meta_step(const std::vector<MetaTask>& tasks, int inner_steps, double learning_rate) override {
    const at::Tensor values = torch::tensor(adam_.parameters).requires_grad_(true);
    Tensors losses;
    for (const MetaTask& task : tasks) {
      const auto [own, embedding] = adapt(values, task.support, inner_steps, true);
      const auto rows = static_cast<std::int64_t>(task.query.targets.size());
      const at::Tensor predicted = encoder_.predict(own, tensor(task.query.inputs, rows), embedding);
      losses.push_back((predicted - tensor(task.query.targets, rows)).square().mean());
    }
    const at::Tensor loss = torch::stack(losses).mean();
    at::Tensor gradient = torch::autograd::grad({loss}, {values}).front();
    // Scaled down to a norm of at most one: now and then an inner step goes too far.
    const double norm = gradient.norm().item<double>();
    if (!std::isfinite(norm)) return loss.item<double>();
    gradient = (gradient / std::max(norm, 1.0)).contiguous();
    adam_step(adam_.parameters.data(), adam_.first_moment.data(), adam_.second_moment.data(),
              gradient.data_ptr<float>(), gradient.numel(), ++adam_.steps, learning_rate);
    return loss.item<double>();
  }

  std::vector<DenseLayer> adapted(const MetaBatch& support, int inner_steps) const override {
    const at::Tensor values = torch::tensor(adam_.parameters).requires_grad_(true);
    const auto [own, embedding] = adapt(values, support, inner_steps, false);
    std::vector<DenseLayer> network;
    for (std::size_t l = encode1; l < encoder_.layers(); ++l) {
      const auto [weight, bias] =
          l < encoder_.join() ? encoder_.unrolled(own, l) : std::pair(own[2 * l], own[2 * l + 1]);
      network.push_back(
          {static_cast<int>(weight.size(1)), static_cast<int>(weight.size(0)), values_of(weight), values_of(bias)});
    }
    DenseLayer& join = network[encoder_.join() - encode1];
    join = fold_constant_inputs({join}, static_cast<int>(width), values_of(embedding)).front();
    return network;
  }

  AdamState state() const override { return adam_; }

  void restore(const AdamState& state) override {
    for (const auto* values : {&state.parameters, &state.first_moment, &state.second_moment}) {
      if (values->size() != adam_.parameters.size()) throw FormatError("the weights are of another network");
    }
    adam_ = state;
  }

 private:
  /// The weights, biases and step sizes, which lie one after the other in `values`, after modulation and `steps`
  /// gradient steps on the support, and the embedding. With `differentiable`, as functions of `values`.
  std::pair<Tensors, at::Tensor> adapt(const at::Tensor& values, const MetaBatch& support, int steps,
                                       bool differentiable) const {
    Tensors p;
    std::int64_t next = 0;
    for (const std::size_t first : {std::size_t{0}, std::size_t{encode1}}) {  // the second time, step sizes
      for (std::size_t l = first; l < shapes_.size(); ++l) {
        const auto [outputs, of] = shapes_[l];
        p.push_back(values.narrow(0, next, outputs * of).view({outputs, of}));
        p.push_back(values.narrow(0, next + outputs * of, outputs));
        next += outputs * (of + 1);
      }
    }
    const auto rows = static_cast<std::int64_t>(support.targets.size());
    const at::Tensor x = tensor(support.inputs, rows), y = tensor(support.targets, rows);
    const at::Tensor embedding = linear(p, set2, torch::relu(linear(p, set1, torch::cat({x, y}, 1)))).mean(0, true);
    const at::Tensor scales = 1 + linear(p, modulate2, torch::relu(linear(p, modulate1, embedding)));
    for (std::size_t l = encode1; l < shapes_.size(); ++l) {
      p[2 * l] = p[2 * l] * scales.narrow(1, static_cast<std::int64_t>(l - encode1), 1);
    }
    for (int step = 0; step < steps; ++step) {
      const at::Tensor loss = (encoder_.predict(p, x, embedding) - y).square().mean();
      const Tensors own(p.begin() + 2 * encode1, p.begin() + 2 * shapes_.size());
      const Tensors gradient = torch::autograd::grad({loss}, own, {}, true, differentiable);
      for (std::size_t i = 0; i < own.size(); ++i) {
        p[2 * encode1 + i] = own[i] - p[2 * shapes_.size() + i] * gradient[i];
      }
    }
    return {p, embedding};
  }

  Encoder encoder_;
  std::vector<std::pair<std::int64_t, std::int64_t>> shapes_;  ///< outputs and inputs of each layer
  AdamState adam_;
};

}  // namespace

std::unique_ptr<MetaNetwork> make_meta_network(int inputs, bool cells, std::uint64_t seed) {
  return std::make_unique<TorchMetaNetwork>(inputs, cells, seed);
}

}  // namespace tenshot::trainer
