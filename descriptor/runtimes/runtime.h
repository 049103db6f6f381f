#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "nasbench/graph/network.h"
#include "nasbench/graph/network_weights.h"

namespace tenshot::descriptor {

/// The weights of every node of a network.
using Weights = std::vector<nasbench::LayerWeights>;

/// How a runtime is to run a graph.
struct RuntimeOptions {
  /// Images in an inference, for who makes a network to run. Larger makes an image cheaper and a call dearer.
  int batch = 1;
  /// Threads of the runtime's own pool. More are faster up to the processors that are free; beyond, times scatter.
  int threads = 1;
  /// Seed of nasbench::random_weights. Which weights hardly matters: latencies are those of the operators.
  std::uint64_t weight_seed = 1;
  std::shared_ptr<const Weights> weights = nullptr;  ///< weights of every node of the network, instead of random ones
};

/// A network ready to run. Owns its weights and its input.
class PreparedNetwork {
 public:
  virtual ~PreparedNetwork() = default;
  /// One inference on the network's own inputs; what is timed.
  virtual void run() = 0;
  /// One inference on `input` (batch × channels × height × width, row-major; inputs in a row); outputs likewise.
  virtual std::vector<float> infer(const std::vector<float>& input) = 0;
  /// One inference on the network's own inputs, its operators timed: milliseconds for each node of the network that it
  /// was prepared from, in the order of the nodes; zero for a node that is executed together with another one. Empty
  /// where the runtime does not tell.
  virtual std::vector<double> run_timed() { return {}; }
};

/// The seam between networks and what executes them.
class Runtime {
 public:
  virtual ~Runtime() = default;
  virtual std::string_view name() const = 0;
  /// "LibTorch 1.13.0, oneDNN 2.6.3, OpenBLAS 0.3.21 (openmp, SkylakeX), AVX2": what a card says of it.
  virtual std::string version() const = 0;
  /// "fp32" or "int8".
  virtual std::string_view precision() const = 0;
  /// How much its outputs may differ from libtorch-eager's: root mean square of the difference over that of outputs.
  virtual double tolerance() const = 0;
  /// Whether descriptor/machine/instruction_set.h can make it run as on an older processor.
  virtual bool follows_instruction_set() const = 0;
  /// Throws InputError that names the node where the runtime cannot run the network, without building it. A runtime
  /// that finds out only when it builds says nothing here.
  virtual void require_supported(const nasbench::Network&, const RuntimeOptions&) const {}
  /// Builds, compiles, optimises. May take much longer than a run.
  /// Throws InputError that names the node where the runtime cannot run it.
  virtual std::unique_ptr<PreparedNetwork> prepare(const nasbench::Network& network,
                                                   const RuntimeOptions& options) const = 0;
};

/// Names of the runtimes that this build has (libtorch_runtime.h and opencv_dnn.h say what they do).
std::vector<std::string> runtime_names();
/// Throws InputError that lists the names, or that says what to install for a runtime which this build lacks.
std::unique_ptr<Runtime> make_runtime(std::string_view name);

/// Throw InputError where an input is not of images in float32, which is all that `runtime` takes, and where the inputs
/// of a network, together, have another number of values.
void require_images(const nasbench::Network& network, std::string_view runtime);
void require_values(const std::vector<float>& input, std::int64_t expected);

/// Writes nasbench::random_weights of every node as one file, atomically: "TSWEIGHT", the number of floats as 64 bits,
/// the floats in the order of the nodes, each node's weight, bias, mean and variance; little-endian. What a cold start
/// reads: the model file of runtimes whose network is code.
void write_weights_file(const std::filesystem::path& path, const nasbench::Network& network, std::uint64_t seed);

/// Reads it in one go. Throws FileError, and FormatError where it is no such file or of another network.
std::shared_ptr<const Weights> read_weights_file(const std::filesystem::path& path, const nasbench::Network& network);

}  // namespace tenshot::descriptor
