#include "datasets/kit/measured_source.h"

#include "datasets/kit/board_results.h"
#include "datasets/kit/kit_profiles.h"
#include "datasets/pool/joined_pools.h"
#include "datasets/tables/architecture_column.h"
#include "datasets/tables/csv.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/files.h"

namespace tenshot::datasets {
namespace {

namespace fs = std::filesystem;

void require_same_space(const NetworkSpace& found, const NetworkSpace& expected, const fs::path& path,
                        const std::string& kind) {
  if (&found == &expected) return;
  const bool one_name = found.name() == expected.name();
  throw InputError(path.string() + ": is a " + kind + " of " + std::string(found.name()) + ", and asked for is " +
                   (one_name ? "another space of that name" : std::string(expected.name())));
}

void set_rows(MeasuredSource& source, std::vector<Measurement> rows) {
  source.rows = std::move(rows);
  for (const Measurement& row : source.rows) {
    source.architectures.push_back(row.architecture);
    source.latency_ms.push_back(row.latency_ms);
  }
  source.whole_milliseconds = are_whole_milliseconds(source.latency_ms);
}

void add_profiles(const fs::path& path, MeasuredSource& source) {
  KitProfiles profiles = read_kit_profiles(path);
  for (const std::string& problem : profiles.problems)
    source.kit->findings.push_back({KitProblem::unreadable, problem + "; left out"});
  if (profiles.networks == 0) return;
  source.profile_remarks.push_back(path.string() + ": " + profiles.summary());
  source.operator_latencies = operators_in_networks(std::move(profiles.rows));
}

MeasuredSource read_kit(const fs::path& path, const NetworkSpace& space, Quantity quantity) {
  MeasuredSource source;
  source.kit = read_kit_results(path, quantity);
  require_same_space(*source.kit->manifest.space, space, path, "kit");
  set_rows(source, source.kit->latencies);
  for (const Architecture& measured : source.architectures) {
    const std::string name = space.format(measured);
    if (ends_with(name, apart_suffix) || ends_with(name, together_suffix))
      throw InputError(path.string() + ": is a kit of test cases, which tenshot kernels detect --kit takes");
    const Architecture named = space.parse(name);
    if (named == measured) continue;
    source.kit->findings.insert(source.kit->findings.begin(),  // before how measurements went: few lines are shown
                                {KitProblem::other_model, name + ": that of " + nasbench::named_network(named).origin +
                                                              " is another network, or of another shape, than " +
                                                              path.string() + " measured; what was measured counts"});
  }
  source.descriptor = source.kit->descriptor;
  source.board = note(source.kit->before, board_key);
  source.conditions = conditions_of(device_of(*source.kit, default_device_id(*source.kit)));
  if (quantity == Quantity::latency && &space == &nasbench::networks()) add_profiles(path, source);
  return source;
}

MeasuredSource read_device_folder(const fs::path& path, const NetworkSpace& space, Quantity quantity) {
  DeviceOfSpace found = read_device(path, quantity);
  require_same_space(*found.space, space, path, "device");
  if (found.device.latencies.empty()) throw_nothing_usable(path.string(), "measurement", found.findings, space);
  MeasuredSource source;
  set_rows(source, std::move(found.device.latencies));
  source.descriptor = std::move(found.device.descriptor);
  source.operator_latencies = std::move(found.device.operator_latencies);
  source.board = board_of(found.device);
  source.conditions = conditions_of(found.device);
  source.device = std::move(found.device);
  source.findings = std::move(found.findings);
  return source;
}

MeasuredSource read_csv(const fs::path& path, const NetworkSpace& space, Quantity quantity) {
  const std::string text = read_file(path), file = name_in_messages(path);
  require_no_swap(CsvReader(text, file), {column("lower", quantity), column("upper", quantity)},
                  "measurements, but predictions");
  Measurements read = parse_measurements(text, file, space, quantity);
  if (read.rows.empty()) throw_nothing_usable(path.string(), "measurement", read.findings, space);
  MeasuredSource source;
  set_rows(source, std::move(read.rows));
  source.findings = std::move(read.findings);
  return source;
}

bool is_cell(const std::string& text) {
  try {
    nasbench::nasbench201().parse(text);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

const nasbench::NetworkSpace* space_of_measurements(const fs::path& path) {
  if (path == "-") return nullptr;
  if (is_kit(path)) return read_kit_manifest(path).space;
  if (is_folder(path)) return is_there(path / "device.json") ? read_device(path).space : nullptr;
  if (path.filename() == "device.json") return read_device(path).space;
  const std::string text = read_file(path), file = path.string();
  CsvReader csv(text, file);
  const std::optional<std::size_t> named = csv.find("architecture");
  const std::optional<std::size_t> column = named ? named : csv.find("network");
  if (!column || !csv.next() || csv.fields().size() <= *column) return nullptr;
  return is_cell(std::string(csv.fields()[*column])) ? &nasbench::nasbench201() : &nasbench::networks();
}

}  // namespace

MeasuredSource read_measured(const fs::path& path, const NetworkSpace& space, Quantity quantity) {
  if (is_kit(path)) return read_kit(path, space, quantity);
  const bool device = path.filename() == "device.json" || (is_folder(path) && is_there(path / "device.json"));
  if (!device && is_folder(path)) {
    throw FileError(path.string() + ": is a folder, and that of neither a kit (manifest.json) nor a device-runtime " +
                    "(device.json); give one of these");
  }
  return device ? read_device_folder(path, space, quantity) : read_csv(path, space, quantity);
}

const nasbench::NetworkSpace& space_given(const std::vector<std::string>& names, const std::vector<fs::path>& tables) {
  if (!std::all_of(names.begin(), names.end(), is_cell)) return nasbench::networks();
  for (const fs::path& table : tables) {
    if (const nasbench::NetworkSpace* space = space_of_measurements(table)) return *space;
  }
  return nasbench::nasbench201();
}

}  // namespace tenshot::datasets
