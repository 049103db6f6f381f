#pragma once

#include <memory>

#include "datasets/pool/pool.h"
#include "trainer/core/predictor.h"

namespace tenshot::trainer {

/// "transfer": the device-runtime of the pool that ranks the measured architectures most like the new one (Spearman's
/// ρ; on a tie the one a line fits better) stands for it, as the proxy device of Lu et al. (One Proxy Device Is Enough,
/// SIGMETRICS 2022) does. Its latencies, as the pool's library explains them, give the new device's by a line
/// a + b·latency with a, b ≥ 0, fitted to the relative error: the ranking is the proxy's own.
std::unique_ptr<PoolModel> make_transfer(const datasets::Pool& pool);

}  // namespace tenshot::trainer
