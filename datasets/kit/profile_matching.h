#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "datasets/operators/kernel_table.h"
#include "nasbench/graph/network.h"

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
/// Throws FormatError that names `file` and the entry at fault, also where it is none of these or names no layer.
std::vector<LayerTime> layer_times(std::string_view text, const std::string& file);

/// A profile's layers as times of a network's operators.
struct MatchedProfile {
  /// What each node takes; 0 where the layer of another node executes it, nothing where the profile does not name it.
  std::vector<std::optional<double>> node_ms;
  std::size_t layers = 0;   ///< of the profile
  std::size_t matched = 0;  ///< of them, those that execute operators of the network
  double ms = 0;            ///< of all layers
  double matched_ms = 0;
};

/// Matches layers to the nodes of `network` by names: `operators` has what the model's file calls by a name
/// (nasbench::operators_by_name). A fused layer names several ("conv1 + relu1", "PWN(sigmoid, mul)", "fused conv1",
/// "a || b", "conv1;relu1", or all between two: "{ForeignNode[first...last]}"); its time counts to the one with the
/// most arithmetic, and the others have none of their own. Layers of one node are added up. Copies that reorder a
/// tensor are no operators and stay unmatched.
///
/// Where fewer than half of the layers have a known name, layers count by their order instead: those of a kind (such as
/// CONV_2D) belong to the nodes of that kind, one after the other, where there are as many.
MatchedProfile match_profile(const std::vector<LayerTime>& layers, const nasbench::Network& network,
                             const std::unordered_map<std::string, int>& operators);

/// The rows of an operators.csv, as collect_operators() writes them: an operator of the network `name` each, the median
/// over its equal nodes. What the profile does not name has no row.
std::vector<KernelRow> operator_rows(const MatchedProfile& matched, const nasbench::Network& network,
                                     const std::string& name);

}  // namespace tenshot::datasets
