#include "trainer/cli/network_options.h"

#include "datasets/tables/architecture_column.h"
#include "nasbench/support/error.h"

namespace tenshot::cli {
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

void reads_networks(FileRoles& files, const OptionParser& options) {
  if (options.has("networks")) files.reads_networks("--networks", options.get("networks"));
}

std::vector<nasbench::Architecture> networks_of(const OptionParser& options) {
  if (!options.has("networks")) return {};
  return datasets::read_networks(options.get("networks"), onnx_options(options));
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

void add_measurements_option(OptionParser& options, const std::string& meaning) {
  options.add()("measurements",
                meaning +
                    ": CSV with architecture,latency_ms (or the quantity's column); a device-runtime's folder; or a "
                    "kit's folder with its results/. May be given several times: they are joined, and what several "
                    "measured counts by its median",
                cxxopts::value<std::string>());
}

void reads_measurements(FileRoles& files, const OptionParser& options) {
  for (const std::string& path : options.all("measurements")) files.reads_measured("--measurements", path);
}

namespace {

void report_source(const datasets::MeasuredSource& source, bool quiet) {
  if (source.kit) report(*source.kit, quiet);
  report(source.findings, quiet);
}

}  // namespace

datasets::JoinedSources read_measurements(const OptionParser& options, const nasbench::SearchSpace& space,
                                          datasets::Quantity quantity) {
  return read_measurements(options.all("measurements"), space, quantity, options.has("quiet"));
}

datasets::JoinedSources read_measurements(const std::vector<std::string>& paths, const nasbench::SearchSpace& space,
                                          datasets::Quantity quantity, bool quiet) {
  datasets::JoinedSources joined = datasets::read_joined({paths.begin(), paths.end()}, space, quantity);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (paths.size() > 1) say(paths[i] + ":", quiet);
    report_source(joined.sources[i], quiet);
  }
  for (const std::string& remark : joined.remarks(quantity)) say(remark, quiet);
  return joined;
}

datasets::MeasuredSource read_measured(const std::string& path, const nasbench::SearchSpace& space,
                                       datasets::Quantity quantity, bool quiet) {
  datasets::MeasuredSource source = datasets::read_measured(path, space, quantity);
  report_source(source, quiet);
  return source;
}

}  // namespace tenshot::cli
