#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenshot::datasets {

/// What a runtime's profiler says of one layer that it executed.
struct LayerTime {
  std::string name;  ///< in the runtime's words: "conv1 + relu1", "fused conv1"
  std::string kind;  ///< in the runtime's words: "Conv", "CONV_2D"; empty where it does not say
  double ms = 0;     ///< of one inference: the median or the mean over the profiled runs; 0 where it took no time
};

/// The layers that a profile names, in the order of execution, each once. It is one of
///   - trtexec --exportProfile: a JSON list of objects with name and averageMs, medianMs where it is;
///   - ONNX Runtime's profile: a JSON list of events, of which those of category Node and a name that
///     ends in _kernel_time count; the median of each over its runs, without the first where there are several;
///   - benchmark_model --enable_op_profiling: what it prints, the tables "Run Order" of the runs and of what delegates
///     executed, times how often each was called;
///   - benchmark_app -report_type detailed_counters or average_counters (OpenVINO): CSV with semicolons and layerName,
///     execStatus, layerType and realTime (ms), or with -json_stats the same as JSON.
/// Which one it is, its content says. ONNX Runtime's is tested with the real one, the others with files by hand. Throws
/// FormatError that names `file` and the entry at fault, also where it is none of these or names no layer.
std::vector<LayerTime> layer_times(std::string_view text, const std::string& file);

}  // namespace tenshot::datasets
