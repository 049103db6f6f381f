#pragma once

#include <string>
#include <vector>

#include "nasbench/spaces/network_space.h"
#include "trainer/core/predictor.h"

namespace tenshot::trainer {

/// A sentence for each network that is far from all that the predictor's pool measured: that has operators which no
/// network of the pool had, or costs over twice the most, or under half of the least, of any of them. After `most`
/// sentences, one says how many more there are.
std::vector<std::string> notes_on_unfamiliar(const Predictor& predictor, const std::vector<Architecture>& architectures,
                                             std::size_t most = 10);

/// What was remarked when the networks were read, as on a length that depends on the data, `most` of them; nothing of
/// architectures of a space that is composed.
std::vector<std::string> notes_on_reading(const NetworkSpace& space, const std::vector<Architecture>& architectures,
                                          std::size_t most = 10);

}  // namespace tenshot::trainer
