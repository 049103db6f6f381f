#pragma once

#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "datasets/kit/measured_source.h"
#include "datasets/pool/pool.h"
#include "nasbench/spaces/architecture.h"
#include "trainer/core/predictor.h"

namespace tenshot::trainer {

// What every kind of predictor asks of its input, and what it makes of it alike.

/// Throws InputError when nothing was measured. `kind` names the predictor; `alternative` says what else would do.
void require_measurements(const AdaptationSet& set, std::string_view kind, std::string_view alternative = {});

/// The least latency that a predictor answers, ms: a twentieth of the fastest that was measured.
double smallest_prediction_ms(const AdaptationSet& set);

/// Latencies of a device-runtime by architecture, ms.
using LatencyOf = nasbench::ArchitectureMap<double>;
LatencyOf latencies_of(const datasets::DeviceRuntime& device);

/// Latency [device of the pool][architecture], ms, that is expected on the pool's devices.
using ExpectedOnPool = std::function<std::vector<std::vector<double>>(const std::vector<Architecture>&)>;
/// The same, measured where the device has it, else what is expected, which is asked for once, where it is needed.
std::vector<std::vector<double>> measured_or_expected(const datasets::Pool& pool,
                                                      const std::vector<Architecture>& architectures,
                                                      const ExpectedOnPool& expected);

/// The numbers of the architectures that are connected.
std::vector<std::size_t> connected_of(const std::vector<Architecture>& architectures, const NetworkSpace& space);

/// Those of its measurements, in this order.
AdaptationSet part_of(const AdaptationSet& set, const std::vector<std::size_t>& indices);

/// The numbers of latencies, from fast to slow: what is taken of measurements in this order depends on no file's.
std::vector<std::size_t> fastest_first(const std::vector<double>& latency_ms);

/// The geometric mean of positive values; NaN where there are none.
double geometric_mean(const std::vector<double>& values);

/// Adds what was measured to `set`, whose quantity is known. Where it is latency, the times of operators inside
/// networks come along, and the descriptor where it has latencies of operators and the model uses descriptors.
void add_measured(AdaptationSet& set, datasets::MeasuredSource measured, const PoolModel& model);

/// Puts the times of operators inside the measured networks of an operators.csv in the place of those of `set`. Throws
/// InputError where its quantity is not latency, the model learns nothing from them, or the file has none; FileError.
void add_operators(AdaptationSet& set, const std::filesystem::path& file, const PoolModel& model);

}  // namespace tenshot::trainer
