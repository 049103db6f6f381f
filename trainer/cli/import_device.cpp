#include "trainer/cli/import_device.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "datasets/kit/kit_results.h"
#include "datasets/pool/joined_pools.h"
#include "datasets/tables/space_files.h"
#include "nasbench/support/error.h"
#include "trainer/cli/shared_options.h"

namespace tenshot::cli {
namespace {

/// --kit and --measurements, both of which may be given several times: one device-runtime of all.
std::vector<std::string> imported_paths(const OptionParser& options) {
  std::vector<std::string> paths = options.all("kit");
  for (const std::string& folder : paths) {
    if (!datasets::is_kit(folder)) throw InputError(folder + ": is no kit (it has no manifest.json)");
  }
  for (std::string& path : options.all("measurements")) paths.push_back(std::move(path));
  return paths;
}

datasets::DeviceRuntime imported_device(const OptionParser& options, const datasets::MeasuredSource& measured,
                                        datasets::Quantity quantity) {
  datasets::DeviceRuntime device;
  if (measured.kit) {
    device =
        device_of(*measured.kit, options.has("id") ? options.get("id") : datasets::default_device_id(*measured.kit));
    if (quantity == datasets::Quantity::latency) device.descriptor = measured.descriptor;
  } else {
    device.id = device.device = options.get("id");
    device.runtime = "unknown";
    device.quantity = quantity;
    device.descriptor = measured.descriptor;
  }
  if (measured.kit && !measured.left_out_of_all) return device;  // of one kit, with its deviations and runs
  device.latencies.clear();
  for (std::size_t i = 0; i < measured.architectures.size(); ++i) {
    device.latencies.push_back({measured.architectures[i], measured.latency_ms[i]});
  }
  return device;
}

}  // namespace

void write_or_add(const std::string& out, datasets::DeviceRuntime device, const nasbench::NetworkSpace& space,
                  bool quiet) {
  std::error_code ignored;
  const std::filesystem::path earlier = std::filesystem::path(out) / device.id / "device.json";
  if (std::filesystem::exists(earlier, ignored)) {
    say(datasets::add_earlier(device, datasets::read_device(earlier, device.quantity).device), quiet);
  }
  MadeFolders made;
  made.folder(out);
  datasets::write_device(out, device, space);
  say_written(out, "device-runtime " + device.id + " of " + std::to_string(device.latencies.size()) + " networks",
              "tenshot dataset describe " + out, quiet);
}

void import_measured(const OptionParser& options, const std::string& out) {
  const bool quiet = options.has("quiet");
  const std::vector<std::string> paths = imported_paths(options);
  FileRoles files;
  for (const std::string& path : paths) files.reads_measured("--measurements", path);
  reads_networks(files, options);
  files.writes_devices("--out", out);
  files.require_distinct();
  const auto kit =
      std::find_if(paths.begin(), paths.end(), [](const std::string& path) { return datasets::is_kit(path); });
  if (kit == paths.end() && !options.has("id")) {
    throw UsageError(
        "tenshot dataset import needs --id, the name of the device that was measured, where there is no kit");
  }
  networks_of(options);
  const nasbench::NetworkSpace& space =
      kit == paths.end() ? datasets::named_space(options.get("space")) : *datasets::read_kit_manifest(*kit).space;
  const datasets::Quantity quantity = quantity_option(options).value_or(datasets::Quantity::latency);
  const datasets::JoinedSources joined = read_measurements(options, paths, space, quantity);
  datasets::DeviceRuntime device = imported_device(options, joined.measured, quantity);
  if (quantity == datasets::Quantity::latency) device.operator_latencies = joined.measured.operator_latencies;
  write_or_add(out, std::move(device), space, quiet);
}

}  // namespace tenshot::cli
