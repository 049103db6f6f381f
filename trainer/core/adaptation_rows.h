#pragma once

#include "trainer/core/archive.h"

namespace tenshot::trainer {

/// A predictor's card lists the measurements it was adapted on ("adaptation_set": architecture, latency_ms). Thousands
/// of such lines would make a file of megabytes, so a file keeps them as two arrays instead, and a reader finds the
/// card as it was. Cards with few measurements, and those of a space that has no name, stay as they are.
Archive with_packed_adaptation_set(const Archive& archive);

/// The inverse. Throws FormatError where the arrays do not fit each other or their space.
void unpack_adaptation_set(Archive& archive);

}  // namespace tenshot::trainer
