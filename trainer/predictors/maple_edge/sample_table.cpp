#include "trainer/predictors/maple_edge/sample_table.h"

#include <algorithm>
#include <cmath>

namespace tenshot::trainer {
namespace {

constexpr double least_relative_unit = 0.2;

}  // namespace

SampleTable::SampleTable(const nasbench::SearchSpace& space, std::size_t features)
    : space_(space), encoding_(space.encoding_width()), width_(encoding_ + features) {
  set_.width = static_cast<int>(width_);
}

void SampleTable::add(std::size_t device, const nasbench::Architecture& architecture, double latency_ms) {
  set_.inputs.resize(set_.inputs.size() + width_, 0);
  space_.encode(architecture, &set_.inputs[set_.inputs.size() - width_]);
  set_.targets.push_back(0);
  set_.units.push_back(0);
  device_.push_back(device);
  latency_ms_.push_back(latency_ms);
}

const TrainingSet& SampleTable::described_by(const std::vector<StandardisedDevice>& devices) {
  for (std::size_t row = 0; row < device_.size(); ++row) {
    const StandardisedDevice& device = devices[device_[row]];
    std::copy(device.features.begin(), device.features.end(),
              set_.inputs.begin() + static_cast<std::ptrdiff_t>(row * width_ + encoding_));
    set_.targets[row] = static_cast<float>(latency_ms_[row] / device.unit_ms);
    set_.units[row] =
        static_cast<float>(std::max(latency_ms_[row], least_relative_unit * device.scale_ms) / device.unit_ms);
  }
  return set_;
}

SampleTable samples_of(const nasbench::SearchSpace& space, const datasets::LatencyMatrix& matrix,
                       std::size_t features) {
  SampleTable table(space, features);
  for (std::size_t d = 0; d < matrix.latency_ms.size(); ++d) {
    for (std::size_t a = 0; a < matrix.architectures.size(); ++a) {
      const double latency_ms = matrix.latency_ms[d][a];
      if (!std::isnan(latency_ms)) table.add(d, matrix.architectures[a], latency_ms);
    }
  }
  return table;
}

}  // namespace tenshot::trainer
