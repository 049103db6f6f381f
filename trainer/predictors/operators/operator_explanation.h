#pragma once

#include <string>
#include <vector>

#include "trainer/core/predictor.h"
#include "trainer/predictors/operators/cost_posterior.h"

namespace tenshot::trainer::operators {

/// What a person wants to know of the device. `devices` are the pool's ids, `names` those of the measured networks, and
/// `like` is the device that it was said to be like, or empty.
std::vector<Remark> explanation_lines(const CostPosterior& posterior, const FeatureMap& map,
                                      const AdaptationFeatures& set, const std::vector<std::string>& devices,
                                      const std::vector<std::string>& names, const std::string& like);

/// A question for the unit where latencies are over five times those of every device of the pool, [device][network] ms,
/// or under a fifth; from fifty times on a warning. A warning, too, where networks take less the more they take on most
/// devices of the pool, as frames per second would. Else nothing.
std::vector<Remark> remarks_on_scale(const std::vector<double>& latency_ms,
                                     const std::vector<std::vector<double>>& of_pool_ms);

}  // namespace tenshot::trainer::operators
