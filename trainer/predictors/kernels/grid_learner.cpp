#include "trainer/predictors/kernels/grid_learner.h"

#include <cmath>
#include <map>

namespace tenshot::trainer::kernels {
namespace {

std::vector<double> point(const nasbench::OperatorSpecification& op, bool depthwise) {
  std::vector<double> coordinates = {static_cast<double>(op.inputs[0][2]), static_cast<double>(op.inputs[0][1])};
  if (!depthwise) coordinates.push_back(static_cast<double>(op.output[1]));
  coordinates.push_back(op.kernel.height);
  coordinates.push_back(op.stride.height);
  return coordinates;
}

}  // namespace

/// What one multiply-add costs on a grid of some of the points that were measured; missing ones are filled.
InterpolationGrid MeasuredGrids::grid_of(const std::vector<datasets::KernelRow>& rows, bool depthwise, int level) {
  const std::vector<std::vector<double>> images = {{14, 56}, {7, 28, 112}, {7, 14, 28, 56, 112}},
                                         channels = {{8, 512}, {8, 128, 512}, {8, 32, 128, 512}},
                                         windows = {{1, 3}, {1, 3, 5}, {1, 3, 5}},
                                         depthwise_windows = {{3}, {3, 5}, {1, 3, 5}};
  const auto l = static_cast<std::size_t>(level - 1);
  std::vector<Axis> axes = {{"image", images[l]}, {"inputs", channels[l]}};
  if (!depthwise) axes.push_back({"filters", channels[l]});
  axes.push_back({"window", depthwise ? depthwise_windows[l] : windows[l]});
  axes.push_back({"stride", {1, 2}});
  std::map<std::vector<double>, const datasets::KernelRow*> measured;
  for (const datasets::KernelRow& row : rows) {
    if ((row.kernel == "depthwise_convolution") == depthwise) measured[point(row.leading, depthwise)] = &row;
  }
  std::vector<double> values;
  std::vector<std::size_t> at(axes.size(), 0);
  for (bool more = true; more;) {
    std::vector<double> coordinates;
    for (std::size_t d = 0; d < axes.size(); ++d) coordinates.push_back(axes[d].points[at[d]]);
    const auto found = measured.find(coordinates);
    const bool has = found != measured.end() && found->second->refused.empty();
    values.push_back(has ? found->second->latency_ms / complexity(found->second->leading) : std::nan(""));
    seconds_ += found != measured.end() ? found->second->seconds : 0;
    points_ += has ? 1 : 0;
    more = false;
    for (std::size_t d = axes.size(); d-- > 0 && !more;) {
      more = ++at[d] < axes[d].points.size();
      if (!more) at[d] = 0;
    }
  }
  InterpolationGrid grid(axes, values);
  grid.fill_missing();
  return grid;
}

MeasuredGrids::MeasuredGrids(const std::vector<datasets::KernelRow>& rows, int level)
    : convolutions_(grid_of(rows, false, level)), depthwise_(grid_of(rows, true, level)) {}

std::optional<double> MeasuredGrids::layer_ms(const nasbench::OperatorSpecification& layer) const {
  if (layer.kind != nasbench::OperatorKind::convolution || layer.inputs[0].size() != 4) return std::nullopt;
  const bool depthwise = layer.groups == layer.inputs[0][1];
  return (depthwise ? depthwise_ : convolutions_).interpolate(point(layer, depthwise)).value * complexity(layer);
}

}  // namespace tenshot::trainer::kernels
