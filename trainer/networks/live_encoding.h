#pragma once

#include <cstddef>
#include <vector>

#include "nasbench/spaces/search_space.h"
#include "trainer/networks/feed_forward.h"

namespace tenshot::trainer {

// A network learns more easily what a runtime executes when it is told which parts of an architecture are dead: beside
// the architecture's own one-hot encoding stands that of its canonical form, in which dead parts take option 0.

/// Twice the width of the one-hot encoding; the width itself for a space without dead parts.
std::size_t live_encoding_width(const nasbench::SearchSpace& space);

/// Writes the one-hot encodings of `architecture` and of its canonical form, live_encoding_width() floats.
void encode_live(const nasbench::SearchSpace& space, const nasbench::Architecture& architecture, float* encoding);

/// Three layers, with a ReLU after each, that turn the one-hot encoding into encode_live's, exactly: in front of a
/// network that was trained on the latter, they give one that takes the former and is exported like any other.
std::vector<DenseLayer> live_encoding_layers(const nasbench::SearchSpace& space);

}  // namespace tenshot::trainer
