#include "trainer/cli/network_options.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "datasets/kit/kit_results.h"
#include "datasets/pool/pool.h"
#include "datasets/tables/architecture_column.h"
#include "datasets/tables/network_sources.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"

namespace tenshot::cli {
namespace {

namespace fs = std::filesystem;

void require_same_space(const nasbench::SearchSpace& found, const nasbench::SearchSpace& expected,
                        const std::string& path, const std::string& kind) {
  if (&found == &expected) return;
  const bool one_name = found.name() == expected.name();
  throw InputError(path + ": is a " + kind + " of " + std::string(found.name()) + ", the checkpoint is of " +
                   (one_name ? "another space of that name" : std::string(expected.name())));
}

MeasuredFile rows_of(const std::vector<datasets::Measurement>& rows) {
  MeasuredFile measured;
  for (const datasets::Measurement& row : rows) {
    measured.architectures.push_back(row.architecture);
    measured.latency_ms.push_back(row.latency_ms);
  }
  return measured;
}

MeasuredFile read_measured_kit(const std::string& path, const nasbench::SearchSpace& space, datasets::Quantity quantity,
                               bool quiet) {
  const datasets::KitResults results = datasets::read_kit_results(path, quantity);
  require_same_space(*results.manifest.space, space, path, "kit");
  report(results, quiet);
  MeasuredFile measured = rows_of(results.latencies);
  measured.whole_milliseconds = datasets::are_whole_milliseconds(measured.latency_ms);
  measured.descriptor = results.descriptor;
  measured.left_out = results.findings.size();
  return measured;
}

MeasuredFile read_measured_device(const std::string& path, const nasbench::SearchSpace& space,
                                  datasets::Quantity quantity, bool quiet) {
  const datasets::DeviceOfSpace found = datasets::read_device(path, quantity);
  require_same_space(*found.space, space, path, "device");
  report(found.findings, quiet);
  if (found.device.latencies.empty()) datasets::throw_nothing_usable(path, "measurement", found.findings, space);
  MeasuredFile measured = rows_of(found.device.latencies);
  measured.whole_milliseconds = datasets::are_whole_milliseconds(measured.latency_ms);
  measured.descriptor = found.device.descriptor;
  measured.left_out = found.findings.total();
  return measured;
}

}  // namespace

void add_network_options(OptionParser& options, const std::string& use) {
  options.add()("networks", "networks by name " + use + ": folder of *.onnx, networks.json, or CSV of their operators",
                cxxopts::value<std::string>());
  add_shape_option(options);
}

void add_shape_option(OptionParser& options) {
  options.add()("shape", "of an input of ONNX files that have it open: NAME=1x3x224x224",
                cxxopts::value<std::vector<std::string>>());
}

nasbench::OnnxReadOptions onnx_options(const OptionParser& options) {
  nasbench::OnnxReadOptions read;
  if (!options.has("shape")) return read;
  for (const std::string& text : options.get<std::vector<std::string>>("shape")) {
    read.shapes.insert(nasbench::parse_input_shape(text));
  }
  return read;
}

std::vector<nasbench::Architecture> networks_of(const OptionParser& options) {
  if (!options.has("networks")) return {};
  return datasets::read_networks(options.get("networks"), onnx_options(options));
}

nasbench::Architecture architecture_or_file(const std::string& text, const nasbench::SearchSpace& space,
                                            const nasbench::OnnxReadOptions& options) {
  if (fs::path(text).extension() != ".onnx") return space.parse(text);
  if (&space != &nasbench::networks()) {
    throw InputError(text + ": is an ONNX file, and this predictor is of the space " + std::string(space.name()) +
                     "; take one of the space networks, or write an architecture such as " + space.example());
  }
  return datasets::read_networks(text, options).front();
}

std::vector<nasbench::Architecture> usable_architectures(const std::string& file, const nasbench::SearchSpace& space,
                                                         bool quiet) {
  datasets::ArchitectureList list = datasets::read_architectures(file, space);
  if (list.architectures.empty()) datasets::throw_nothing_usable(file, "architecture", list.findings, space);
  report(list.findings, quiet);
  return std::move(list.architectures);
}

std::string whole_numbers(datasets::Quantity quantity) {
  if (quantity == datasets::Quantity::latency) return "latencies are whole milliseconds";
  return column(quantity) + " is always whole " + std::string(unit(quantity));
}

void require_latency_descriptor(datasets::Quantity quantity) {
  if (quantity == datasets::Quantity::latency) return;
  throw InputError("--descriptor says what operators take in ms, and this is of " + std::string(name(quantity)) +
                   ": leave it out");
}

void require_no_swap(const std::string& path, const std::vector<std::string>& others, const std::string& what) {
  std::error_code ignored;
  if (path == "-" || !fs::is_regular_file(path, ignored)) return;
  std::ifstream file(path);
  std::string header;
  std::getline(file, header);
  for (const std::string& column : split_list(header)) {
    const std::string name(trimmed(column));
    if (std::find(others.begin(), others.end(), name) == others.end()) continue;
    throw InputError(path + ": has the column " + name + ", so it holds no " + what + "; are two files swapped?");
  }
}

MeasuredFile read_measured(const std::string& path, const nasbench::SearchSpace& space, datasets::Quantity quantity,
                           bool quiet) {
  if (datasets::is_kit(path)) return read_measured_kit(path, space, quantity, quiet);
  std::error_code ignored;
  const bool device = fs::path(path).filename() == "device.json" ||
                      (fs::is_directory(path, ignored) && fs::exists(fs::path(path) / "device.json", ignored));
  if (device) return read_measured_device(path, space, quantity, quiet);
  require_no_swap(path, {column("lower", quantity), column("upper", quantity)}, "measurements, but predictions");
  const datasets::Measurements read = datasets::read_measurements(path, space, quantity);
  if (read.rows.empty()) datasets::throw_nothing_usable(path, "measurement", read.findings, space);
  report(read.findings, quiet);
  MeasuredFile measured = rows_of(read.rows);
  measured.whole_milliseconds = read.whole_milliseconds;
  measured.left_out = read.findings.total();
  return measured;
}

}  // namespace tenshot::cli
