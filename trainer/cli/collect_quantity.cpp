#include "trainer/cli/collect_quantity.h"

#include <iostream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

#include "datasets/collect/collect_energy.h"
#include "datasets/collect/collect_starts.h"
#include "nasbench/support/numbers.h"
#include "trainer/cli/shared_options.h"

namespace tenshot::cli {
namespace {

using datasets::Quantity;

/// What of a latency measurement starts and energies have not.
const std::vector<std::string> latency_options = {"descriptor", "operators", "counters",  "events",      "passes",
                                                  "attempts",   "patience",  "tolerance", "repeat-check"};

/// This program, told to start one network as these options say.
std::vector<std::string> start_command(const OptionParser& options, const RuntimeChoice& choice) {
  std::error_code unknown;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  std::vector<std::string> command = {unknown ? "/proc/self/exe" : self.string(), "run-network"};
  for (const char* option : {"runtime", "threads", "batch", "seed", "space", "isa"}) {
    command.insert(command.end(), {"--" + std::string(option), options.get(option)});
  }
  command.insert(command.end(), {"--resolution", std::to_string(choice.shape.resolution)});
  for (const std::string& shape : options.all("shape")) command.insert(command.end(), {"--shape", shape});
  return command;
}

void say_of_starts(const datasets::DeviceRuntime& device, bool quiet) {
  const auto environment = nlohmann::json::parse(device.environment);
  const auto count = [&](const char* key) { return environment.value(key, 0U); };
  const unsigned kept = count("starts_with_cached_pages"), all = kept + count("starts_from_disk");
  std::string text = std::to_string(all) + " starts";
  text += kept == 0 ? ", the page cache of the weights dropped before each"
                    : ", of " + std::to_string(kept) +
                          " the system kept pages of the weights in memory: those did not read them from disk";
  if (count("disturbed_starts") > 0) {
    text += "; " + std::to_string(count("disturbed_starts")) + " were disturbed by other programs";
  }
  if (environment.contains("runtime_memory_mib") && environment["runtime_memory_mib"].is_number()) {
    text += "; the runtime with an empty network takes " +
            shortest(std::round(10 * environment["runtime_memory_mib"].get<double>()) / 10) + " MiB";
  }
  say(text, quiet);
  for (const auto& entry : environment.value("left_out", nlohmann::json::array())) {
    say(entry.at("architecture").get<std::string>() + ": left out: " + entry.at("reason").get<std::string>(), quiet);
  }
}

}  // namespace

void tell_collected(const std::filesystem::path& pool, const datasets::DeviceRuntime& device,
                    const OptionParser& options) {
  const bool of_latencies = device.quantity == Quantity::latency;
  const std::string folder = (pool / device.id).string(),
                    of = of_latencies ? "" : ", " + datasets::column(device.quantity);
  const std::string more = (of_latencies ? "" : " --quantity " + std::string(name(device.quantity))) +
                           (options.has("networks") ? " --networks " + options.get("networks") : "");
  say_written(folder, "device-runtime of " + std::to_string(device.latencies.size()) + " architectures" + of,
              "tenshot adapt --checkpoint POOL.tenshot --measurements " + folder + more + " --out device.tenshot",
              options.has("quiet"));
  if (!options.has("json")) return;
  nlohmann::json found = {{"id", device.id},
                          {"folder", folder},
                          {"architectures", device.latencies.size()},
                          {"environment", nlohmann::json::parse(device.environment)}};
  if (of_latencies) {
    found.update({{"descriptor", device.descriptor.source}, {"simulated", device.descriptor.simulated()}});
  } else {
    found["quantity"] = name(device.quantity);
  }
  std::cout << found.dump(2) << "\n";
}

void add_collected_quantity(OptionParser& options) {
  options.flag("cold",
               "cold starts, --quantity cold: from the file of the weights to the first output, each in a fresh "
               "process, split into load, prepare and first run; --runs is how many at most, --rounds (3 unless said) "
               "how often the networks are started in turn");
  add_quantity_option(options, "latency. One kind at a time, each in a device-runtime of its own");
}

Quantity collected_quantity(const OptionParser& options) {
  const Quantity asked = quantity_option(options).value_or(options.has("cold") ? Quantity::cold : Quantity::latency);
  if (options.has("cold") && asked != Quantity::cold) {
    throw UsageError("--cold is --quantity cold, not " + std::string(name(asked)));
  }
  if (asked != Quantity::latency) {
    options.require_of({}, latency_options, "--quantity " + std::string(name(asked)));
    if (asked == Quantity::energy) options.require_of({}, {"rounds"}, "--quantity energy");
  }
  return asked;
}

void collect_quantity(const OptionParser& options, const RuntimeChoice& choice, const nasbench::NetworkSpace& space,
                      datasets::CollectOptions collect, const datasets::CollectProgress& progress) {
  const Quantity quantity = collected_quantity(options);
  const bool quiet = options.has("quiet");
  datasets::DeviceRuntime device;
  if (quantity == Quantity::energy) {
    device = datasets::collect_energy(collect, space, progress);
  } else {
    datasets::CollectStartsOptions starts;
    starts.quantity = quantity;
    starts.command = start_command(options, choice);
    if (quantity == Quantity::memory) {
      starts.minimum_starts = 3;
      starts.maximum_starts = 7;
      starts.relative_precision = 0.01;
    }
    if (options.has("runs")) {
      starts.maximum_starts = options.integer("runs", 1);
      starts.minimum_starts = std::min(starts.minimum_starts, starts.maximum_starts);
    }
    // What else the machine does changes times, and not memory.
    const int usual_rounds = quantity == Quantity::cold ? std::min(3, starts.minimum_starts) : 1;
    starts.rounds = options.has("rounds") ? options.integer("rounds", 1) : usual_rounds;
    starts.collect = std::move(collect);
    device = datasets::collect_starts(starts, space, progress);
    collect.folder = starts.collect.folder;
    say_of_starts(device, quiet);
  }
  tell_collected(collect.folder, device, options);
}

}  // namespace tenshot::cli
