#include "descriptor/runtimes/libtorch_runtime.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <array>

#include "descriptor/runtimes/libtorch_network.h"
#include "descriptor/runtimes/torch_info.h"
#include "nasbench/support/error.h"

namespace tenshot::descriptor {
namespace {

using nasbench::Network;

/// One way LibTorch can run a network.
struct Execution {
  std::string_view name;
  std::unique_ptr<PreparedNetwork> (*prepare)(const Network&, const RuntimeOptions&);
  std::string_view precision = "fp32";
  double tolerance = 1e-4;
  bool follows_instruction_set = true;
};

/// In the order of libtorch_runtime_names().
constexpr std::array<Execution, 7> executions = {{
    {"libtorch-eager", prepare_eager},
    {"libtorch-frozen", prepare_frozen},
    {"libtorch-optimized", prepare_optimized},
    {"libtorch-xnnpack", prepare_xnnpack, "fp32", 1e-4, false},
    {"libtorch-channels-last", prepare_channels_last},
    {"libtorch-int8", prepare_int8, "int8", 0.15},
    {"libtorch-cuda", prepare_cuda, "fp32", 1e-2, false},
}};

class LibTorchRuntime final : public Runtime {
 public:
  explicit LibTorchRuntime(const Execution& execution) : execution_(execution) {}

  std::string_view name() const override { return execution_.name; }
  std::string_view precision() const override { return execution_.precision; }
  double tolerance() const override { return execution_.tolerance; }
  bool follows_instruction_set() const override { return execution_.follows_instruction_set; }

  void require_supported(const Network& network, const RuntimeOptions& options) const override {
    require_runnable(network, options);
    if (execution_.precision == "int8") require_runnable_on_bytes(network);
  }

  std::string version() const override {
    const bool bytes = execution_.precision == "int8";
    return torch_versions() + (bytes ? ", int8 by " + int8_engine() : "");
  }

 protected:
  std::unique_ptr<PreparedNetwork> prepare_network(const Network& network,
                                                   const RuntimeOptions& options) const override {
    require_runnable(network, options);
    const at::NoGradGuard no_gradients;
    at::set_num_threads(options.threads);
    try {
      return execution_.prepare(network, options);
    } catch (const c10::Error& error) {
      const std::string reason = error.what_without_backtrace();
      throw Error(std::string(name()) + " cannot prepare the network: " + reason.substr(0, reason.find('\n')));
    }
  }

 private:
  const Execution& execution_;
};

}  // namespace

std::unique_ptr<Runtime> make_libtorch_runtime(std::string_view name) {
  const auto found = std::find_if(executions.begin(), executions.end(),
                                  [&](const Execution& execution) { return execution.name == name; });
  return found == executions.end() ? nullptr : std::make_unique<LibTorchRuntime>(*found);
}

}  // namespace tenshot::descriptor
