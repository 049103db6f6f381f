#include "datasets/collect/collect_energy.h"

#include <nlohmann/json.hpp>

#include "datasets/collect/collect_record.h"
#include "descriptor/machine/energy_meter.h"
#include "descriptor/machine/machine.h"
#include "nasbench/support/elapsed.h"

namespace tenshot::datasets {
namespace {

/// The sensors' own step of some milliseconds counts little in a second, and three visits outvote a disturbed one.
constexpr int visits_of_network = 3;
constexpr double seconds_of_visit = 1;

/// Energy of one run in each visit, mJ.
std::vector<double> energies_of(descriptor::PreparedNetwork& network,
                                const std::vector<descriptor::EnergySensor>& sensors) {
  constexpr int warm_up_runs = 3;
  for (int run = 0; run < warm_up_runs; ++run) network.run();
  std::vector<double> energies_mj;
  for (int visit = 0; visit < visits_of_network; ++visit) {
    double runs = 0;
    const double energy_mj = descriptor::energy_mj(sensors, [&] {
      for (const Clock::time_point begin = Clock::now(); seconds_since(begin) < seconds_of_visit; ++runs) network.run();
    });
    energies_mj.push_back(energy_mj / runs);
  }
  return energies_mj;
}

}  // namespace

DeviceRuntime collect_energy(const CollectOptions& options, const NetworkSpace& space,
                             const CollectProgress& progress) {
  const descriptor::EnergySensors sensors = descriptor::find_energy_sensors();
  if (sensors.sensors.empty()) throw InputError("this machine does not tell its energy: " + sensors.reason);
  const auto runtime = descriptor::make_runtime(options.runtime);
  DeviceRuntime device = described_device(options, space, *runtime, Quantity::energy);
  const nlohmann::json conditions = {{"cpu", descriptor::cpu_model()},
                                     {"runtime_version", runtime->version()},
                                     {"kernel", descriptor::kernel_release()},
                                     {"instruction_set", options.instruction_set},
                                     {"weight_seed", options.runtime_options.weight_seed},
                                     {"energy_source", sensors.source}};
  device.environment = conditions.dump();
  const std::filesystem::path folder = options.folder / device.id, file = folder / "device.json";
  if (std::filesystem::exists(file)) {
    DeviceRuntime found = read_device(folder, Quantity::energy).device;
    require_measured_alike(found, device, conditions, file.string());
    device.latencies = std::move(found.latencies);
  }
  const descriptor::CpuPin pin(options.runtime_options.threads);
  const auto known = [&](const Architecture& architecture) {
    return std::any_of(device.latencies.begin(), device.latencies.end(),
                       [&](const Measurement& row) { return row.architecture == architecture; });
  };
  for (const Architecture& architecture : options.architectures) {
    if (known(architecture)) continue;
    if (progress && !progress(device.latencies.size(), options.architectures.size(), "")) {
      throw Interrupted("stopped after " + std::to_string(device.latencies.size()) + " of " +
                        std::to_string(options.architectures.size()) + " architectures, saved in " + folder.string() +
                        "; the same call resumes");
    }
    const nasbench::Network network = space.computation(architecture, options.shape, options.runtime_options.batch);
    const auto prepared = runtime->prepare(network, options.runtime_options);
    const descriptor::Timing mj = descriptor::summarise(energies_of(*prepared, sensors.sensors));
    if (!(mj.median_ms > 0)) {
      throw Error(sensors.source + " counted nothing in " + std::to_string(visits_of_network) + " visits of " +
                  space.format(architecture) + "; give the networks more time");
    }
    device.latencies.push_back({architecture, mj.median_ms, mj.stddev_ms, mj.runs});
    write_device(options.folder, device, space);
  }
  return device;
}

}  // namespace tenshot::datasets
