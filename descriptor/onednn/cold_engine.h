#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "descriptor/cold/cold_files.h"

namespace tenshot::descriptor {

// The cold engine: oneDNN's primitives and compiled kernels, one thread for each core of a plan. It is loaded when it
// is needed; no oneDNN in this header.

/// What kernels and layouts depend on: "AMD EPYC, family 26 model 2 stepping 1, oneDNN 2.6.3 (AVX-512)". Empty in a
/// build without oneDNN, where all functions below throw InputError that says what to install.
std::string cold_machine();

/// Names of the kernels that can compute a layer here: oneDNN's in its order of preference, and the compiled ones
/// behind them. Throws InputError where there is none.
std::vector<std::string> kernel_names(const ColdNetwork& network, const ColdLayer& layer);

/// Throws InputError where the plan is of another machine: its kernels may not exist here.
void require_this_machine(const ColdPlan& plan);

/// How the stages of cold starts are measured.
struct ColdMeasureOptions {
  /// Times that every stage is run; the least time counts. More come nearer to the machine's best, and take longer.
  int repetitions = 5;
  std::filesystem::path scratch;  ///< folder on the disk that reading is measured on
  std::function<void(std::size_t done, std::size_t of)> progress = {};  ///< shapes of layers
};

/// Times every stage of every kernel of every layer of the ONNX model (Yi et al., §3.2): least times of the
/// repetitions, each with the file's pages dropped from the page cache before reading. Layers of one shape are timed
/// once. Throws InputError that names a layer without any kernel, FormatError where the model changes meanwhile, and as
/// read_onnx and OnnxWeights do.
ColdStages measure_cold_stages(const std::filesystem::path& model, const ColdMeasureOptions& options);

/// The file of a plan's weights in its folder: for every layer the raw or the transformed ones, as the plan reads them,
/// in the order of layers, so that a start reads the file from front to back.
inline std::filesystem::path weight_file(const std::filesystem::path& folder) { return folder / "start.weights"; }

/// Why the folder lacks the plan's file, one line that names it: there is none, it is damaged, or of another network or
/// plan. Empty where it has it, as far as its first pages tell; damage within is noticed when it is read.
std::string missing_weights(const ColdPlan& plan, const std::filesystem::path& folder);

/// Makes the file of the ONNX model where it is missing, damaged, or of another network or plan; false where it is not.
/// Throws FileError where the folder cannot be written (the file is whole or absent), InputError where the model cannot
/// be read, and FormatError where the model is not the one that was planned for or changes while it is read.
bool make_weights(const ColdPlan& plan, const std::filesystem::path& model, const std::filesystem::path& folder);

/// How a planned network is started.
struct ColdStartOptions {
  std::filesystem::path folder;  ///< folder of weights; what it lacks is made the slow way, of the model
  std::filesystem::path model;   ///< for the slow way
  std::vector<float> image;      ///< the network's input, channels first; empty: zeros
  int warm_runs = 0;             ///< executions after the runs; more tell the warm latency better, and take longer
  /// One after another, of which the first is the cold one. In the idle time of the preparing cores during the first
  /// runs the plan's switches are prepared; a layer takes its new kernel in the first later run that finds it ready.
  int runs = 1;
  /// Instead of waiting for a layer, the executing core prepares the next layers that no core has begun. Where other
  /// programs slow the preparing cores down, the start is sooner.
  bool steal = false;
};

/// One run, milliseconds from its image to its output; the first, from the plan's file.
struct ColdRun {
  double ms = 0;
  int switched = 0;  ///< layers that were executed by the kernel that they switch to
};

/// One start from the plan's file to the output, milliseconds.
struct ColdStart {
  double cold_ms = 0;
  double start_ms = 0;    ///< reading the plan, opening the files, starting the threads
  double prepare_ms = 0;  ///< time that the executing core prepares, layers of other cores too
  int stolen = 0;         ///< how many of other cores it prepared
  double wait_ms = 0;     ///< time that the executing core waits for others' preparations
  double execute_ms = 0;
  double warm_ms = 0;         ///< median of the executions after the runs, when every switch is made; 0 without any
  std::vector<ColdRun> runs;  ///< the first is the cold one
  std::string unswitched;     ///< why some layers keep their kernels: an error that was met while they were prepared
  std::vector<LayerTimes> layers;
  std::vector<std::string> slow_layers;  ///< whose stored weights were missing or damaged
  std::vector<float> output;             ///< what the first run computed, row by row, channels first
  std::vector<float> last_output;        ///< what the last of several runs computed
};

/// Starts the network that is planned in the file, cold. Throws InputError where the plan is of another machine.
ColdStart run_cold_start(const std::filesystem::path& plan, const ColdStartOptions& options);

}  // namespace tenshot::descriptor
