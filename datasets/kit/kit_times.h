#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenshot::datasets {

// The run times that a kit's backends leave, milliseconds, in the order of the runs. All throw FormatError that names
// `file` where there is no time, or one that is not finite and positive.

/// trtexec --exportTimes: a list of objects, of which "computeMs" counts (the GPU's computing, without the copies to
/// and from it), or "latencyMs" where there is none; runs whose "startComputeMs" is under `warmup_ms` are passed over
/// (some releases export the warm-up too). Or the kit's own runners: {"format": "tenshot.times/1", "times_ms": […]}.
std::vector<double> times_from_json(std::string_view text, const std::string& file, double warmup_ms = 0);

/// Milliseconds, one a line; empty lines are passed over.
std::vector<double> times_from_lines(std::string_view text, const std::string& file);

/// onnxruntime_perf_test's result file: "model,seconds,peak working set,processor use,run" a line; other lines, such as
/// its statistics, are passed over.
std::vector<double> times_from_perf_test(std::string_view text, const std::string& file);

}  // namespace tenshot::datasets
