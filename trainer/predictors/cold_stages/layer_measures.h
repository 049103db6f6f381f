#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "descriptor/cold/cold_network.h"
#include "trainer/predictors/operators/operator_groups.h"

namespace tenshot::trainer::cold_stages {

/// What of a layer its stages may cost time for.
struct LayerMeasures {
  std::string group;  ///< of operators whose costs are alike, as the predictor `operators` groups them
  /// One, multiply–adds in millions, and the megabytes that it reads, writes, and reads as weights (operators::Measure;
  /// the engine's kernels copy no windows).
  std::array<double, operators::window_bytes> measures = {};
  /// What trees split on: logarithms of the measures, the channels and the image, window, stride and groups.
  std::vector<float> splits;
};

LayerMeasures measures_of(const descriptor::ColdNetwork& network, const descriptor::ColdLayer& layer);

/// Reading so many bytes of a file, which depends on nothing else.
LayerMeasures measures_of_reading(std::uint64_t bytes);

/// How unlike two layers are: the squared distance of their logarithms, and more where they are of unlike groups.
double distance(const LayerMeasures& a, const LayerMeasures& b);

}  // namespace tenshot::trainer::cold_stages
