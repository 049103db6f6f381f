#include "trainer/networks/live_encoding.h"

#include <algorithm>
#include <numeric>

namespace tenshot::trainer {
namespace {

using Decisions = std::vector<std::size_t>;

/// Spaces of more decisions are not searched for paths.
constexpr std::size_t most_decisions = 16;

bool has_dead_parts(const nasbench::SearchSpace& space) {
  return space.decisions().size() <= most_decisions &&
         !space.connected(nasbench::Architecture(space.decisions().size()));
}

/// The ways from the input to the output: the smallest sets of decisions that connect the two when they alone take
/// another option than 0. Empty where nothing can be dead.
std::vector<Decisions> paths_of(const nasbench::SearchSpace& space) {
  const std::size_t decisions = space.decisions().size();
  std::vector<Decisions> paths;
  if (!has_dead_parts(space)) return paths;
  std::vector<unsigned> found;
  for (std::size_t size = 1; size <= decisions; ++size) {
    for (unsigned set = 0; set < 1U << decisions; ++set) {
      Decisions taken;
      nasbench::Architecture architecture(decisions);
      for (std::size_t d = 0; d < decisions; ++d) {
        if ((set >> d & 1U) == 0) continue;
        taken.push_back(d);
        architecture[d] = 1;
      }
      if (taken.size() != size || !space.connected(architecture)) continue;
      if (std::any_of(found.begin(), found.end(), [&](unsigned path) { return (set & path) == path; })) continue;
      found.push_back(set);
      paths.push_back(taken);
    }
  }
  return paths;
}

/// A layer that hands on its first `copied` inputs and has room for `more` outputs.
DenseLayer copying_layer(int inputs, int copied, int more) {
  DenseLayer layer{inputs, copied + more, {}, {}};
  layer.weight.assign(static_cast<std::size_t>(inputs) * static_cast<std::size_t>(layer.outputs), 0);
  layer.bias.assign(static_cast<std::size_t>(layer.outputs), 0);
  for (int i = 0; i < copied; ++i) layer.weight[static_cast<std::size_t>(i * inputs + i)] = 1;
  return layer;
}

float& weight(DenseLayer& layer, std::size_t output, std::size_t input) {
  return layer.weight[output * static_cast<std::size_t>(layer.inputs) + input];
}

}  // namespace

std::size_t live_encoding_width(const nasbench::SearchSpace& space) {
  return space.encoding_width() * (has_dead_parts(space) ? 2 : 1);
}

void encode_live(const nasbench::SearchSpace& space, const nasbench::Architecture& architecture, float* encoding) {
  space.encode(architecture, encoding);
  if (has_dead_parts(space)) space.encode(space.canonical(architecture), encoding + space.encoding_width());
}

std::vector<DenseLayer> live_encoding_layers(const nasbench::SearchSpace& space) {
  const std::vector<Decisions> paths = paths_of(space);
  if (paths.empty()) return {};
  std::vector<std::size_t> offsets(space.decisions().size());  // where the encoding of each decision begins
  std::exclusive_scan(space.decisions().begin(), space.decisions().end(), offsets.begin(), std::size_t{0});
  const std::size_t width = space.encoding_width();
  const auto columns = static_cast<int>(width);

  // A path is whole (1, else 0) where none of its decisions takes option 0.
  DenseLayer whole = copying_layer(columns, columns, static_cast<int>(paths.size()));
  for (std::size_t p = 0; p < paths.size(); ++p) {
    whole.bias[width + p] = 1;
    for (const std::size_t decision : paths[p]) weight(whole, width + p, offsets[decision]) = -1;
  }
  // A decision is dead (1, else 0) where no path through it is whole.
  DenseLayer dead = copying_layer(whole.outputs, columns, static_cast<int>(offsets.size()));
  for (std::size_t d = 0; d < offsets.size(); ++d) {
    for (std::size_t p = 0; p < paths.size(); ++p) {
      if (std::find(paths[p].begin(), paths[p].end(), d) == paths[p].end()) continue;
      dead.bias[width + d] = 1;
      weight(dead, width + d, width + p) = -1;
    }
  }
  // What is dead takes option 0, which is dead on every path; all else keeps its option.
  DenseLayer live = copying_layer(dead.outputs, columns, columns);
  for (std::size_t d = 0; d < offsets.size(); ++d) {
    const bool may_die = dead.bias[width + d] == 1;
    const std::size_t end = d + 1 < offsets.size() ? offsets[d + 1] : width;
    for (std::size_t i = offsets[d]; i < end; ++i) {
      const bool none = may_die && i == offsets[d];
      if (!none) weight(live, width + i, i) = 1;
      if (may_die) weight(live, width + i, width + d) = none ? 1 : -1;
    }
  }
  return {whole, dead, live};
}

}  // namespace tenshot::trainer
