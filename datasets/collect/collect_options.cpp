#include "datasets/collect/collect_options.h"

#include "descriptor/machine/instruction_set.h"
#include "descriptor/machine/machine.h"
#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"

namespace tenshot::datasets {

void require_sensible(const CollectOptions& options, const descriptor::Runtime& runtime) {
  if (!descriptor::instruction_set_in_force(options.instruction_set)) {
    throw InputError("instruction_set is " + options.instruction_set +
                     ", but this process was started without its environment variables");
  }
  if (options.instruction_set != "native" && !runtime.follows_instruction_set()) {
    throw InputError(std::string(runtime.name()) +
                     " cannot be told which instructions to use; leave the instruction set native");
  }
  if (options.batch_size < 1) {
    throw InputError("batch_size is " + std::to_string(options.batch_size) + "; expected at least 1");
  }
  if (options.attempts < 1) {
    throw InputError("attempts is " + std::to_string(options.attempts) + "; expected at least 1");
  }
  if (!(options.patience_s >= 0)) {
    throw InputError("patience_s is " + shortest(options.patience_s) + "; expected seconds, none or more");
  }
  if (!(options.sentinel_tolerance > 0)) {
    throw InputError("sentinel_tolerance is " + shortest(options.sentinel_tolerance) +
                     "; expected a positive fraction such as 0.05");
  }
}

std::string default_id(std::string_view runtime, const CollectOptions& options) {
  std::string id = std::string(runtime) + "_t" + std::to_string(options.runtime_options.threads) + "_b" +
                   std::to_string(options.runtime_options.batch);
  constexpr int usual_resolution = 32;
  if (options.shape.resolution != usual_resolution) id += "_r" + std::to_string(options.shape.resolution);
  if (options.instruction_set != "native") id += "_" + options.instruction_set;
  return id;
}

DeviceRuntime described_device(const CollectOptions& options, const NetworkSpace& space,
                               const descriptor::Runtime& runtime, Quantity quantity) {
  DeviceRuntime device;
  device.id = options.id.empty() ? default_id(runtime.name(), options) : options.id;
  if (options.id.empty() && quantity != Quantity::latency) device.id += "_" + std::string(name(quantity));
  device.device = options.device.empty() ? descriptor::cpu_model() : options.device;
  device.runtime = std::string(runtime.name());
  device.precision = std::string(runtime.precision());
  device.batch = options.runtime_options.batch;
  device.threads = options.runtime_options.threads;
  device.quantity = quantity;
  device.input_shape = space.input_shape(options.shape);
  return device;
}

Architecture sentinel_of(const nasbench::SearchSpace& space) {
  const std::vector<int>& decisions = space.decisions();
  Architecture sentinel(decisions.size());
  for (std::size_t i = 0; i < decisions.size(); ++i) sentinel[i] = static_cast<std::uint8_t>(decisions[i] / 2);
  return sentinel;
}

std::string sentinel_name(const NetworkSpace& space) {
  if (const auto* decided = space.search_space()) return space.format(sentinel_of(*decided));
  return "nasbench201 " + sentinel_name(nasbench::nasbench201());
}

nasbench::Network sentinel_network(const NetworkSpace& space, const nasbench::NetworkShape& shape, int batch) {
  if (const auto* decided = space.search_space()) return space.computation(sentinel_of(*decided), shape, batch);
  const nasbench::SearchSpace& own = nasbench::nasbench201();
  return sentinel_network(own, own.default_shape(), batch);
}

}  // namespace tenshot::datasets
