#include "trainer/cli/shared_options.h"

#include <algorithm>
#include <set>

#include "datasets/tables/architecture_column.h"
#include "nasbench/formats/network_file.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/number_text.h"
#include "nasbench/support/text.h"
#include "trainer/core/adaptation.h"
#include "trainer/predictors/registry.h"

namespace tenshot::cli {

nasbench::NetworkReadOptions read_options(const OptionParser& options) {
  nasbench::NetworkReadOptions read;
  if (!options.has("shape")) return read;
  for (const std::string& text : options.all("shape")) {
    const auto [given, is_new] = read.shapes.insert(nasbench::parse_input_shape(text));
    if (!is_new) throw UsageError("--shape gives input '" + given->first + "' a shape twice");
  }
  std::size_t sources = options.rest().size();
  for (const char* option : {"networks", "explain"}) sources += options.all(option).size();
  const bool by_name = options.rest().size() == 1 && !nasbench::is_network_file(options.rest().front());
  if (sources > 1 || by_name) read.inputs_of_several = std::make_shared<std::set<std::string>>();
  return read;
}

std::vector<nasbench::Architecture> networks_or_arguments(const OptionParser& options,
                                                          const nasbench::NetworkSpace& space) {
  const nasbench::NetworkReadOptions read = read_options(options);
  std::vector<nasbench::Architecture> networks = networks_of(options, read);
  if (options.rest().empty()) return networks;
  std::vector<datasets::LeftOutFile> left_out;
  networks = datasets::architectures_or_files(options.rest(), space, read, &left_out);
  datasets::require_shapes_used(read);
  report_left_out(options, left_out);
  return networks;
}

std::vector<nasbench::Architecture> networks_of(const OptionParser& options,
                                                std::optional<nasbench::NetworkReadOptions> read) {
  if (!read) read = read_options(options);
  if (!options.has("networks")) return {};
  std::vector<datasets::LeftOutFile> left_out;
  std::vector<nasbench::Architecture> networks = datasets::read_networks(options.get("networks"), *read, &left_out);
  report_left_out(options, left_out);
  return networks;
}

void report_left_out(const OptionParser& options, const std::vector<datasets::LeftOutFile>& left_out) {
  if (left_out.empty()) return;
  const std::string count = counted(left_out.size(), "network");
  if (options.has("strict")) {
    throw InputError(left_out.front().reason + "; " + count + " would be left out, and --strict accepts none");
  }
  const auto line_of = [](const datasets::LeftOutFile& file) { return "left out: " + file.reason; };
  say_first(left_out, line_of, left_out.size(), " are left out");
  for (std::size_t i = shown_lines; i < left_out.size(); ++i) keep_as_remark(line_of(left_out[i]));
}

void leave_out(const OptionParser& options, std::vector<nasbench::Architecture>& networks,
               const std::function<std::optional<std::string>(const nasbench::Architecture&)>& problem_of) {
  std::vector<datasets::LeftOutFile> left_out;
  const auto has_problem = [&](const nasbench::Architecture& network) {
    const std::optional<std::string> problem = problem_of(network);
    if (problem) left_out.push_back({nasbench::networks().format(network), *problem});
    return problem.has_value();
  };
  networks.erase(std::remove_if(networks.begin(), networks.end(), has_problem), networks.end());
  if (networks.empty() && !left_out.empty()) throw datasets::none_left(left_out);
  report_left_out(options, left_out);
}

std::vector<nasbench::Architecture> usable_architectures(const OptionParser& options, const std::string& file,
                                                         const nasbench::NetworkSpace& space) {
  datasets::ArchitectureList list = datasets::read_architectures(file, space);
  if (list.architectures.empty()) datasets::throw_nothing_usable(file, "architecture", list.findings, space);
  if (options.has("strict") && !list.findings.empty())
    throw InputError(file + ": " + list.findings.summary() + ", and --strict accepts none");
  report(list.findings);
  return std::move(list.architectures);
}

void refuse_doubtful(const OptionParser& options, const trainer::Verdict& verdict, const std::string& what) {
  if (!options.has("strict") || verdict.trust != trainer::Trust::doubtful) return;
  print_outcome();
  throw DoubtfulVerdict(what + ": the verdict is doubtful, and --strict does not accept that; see the warnings");
}

std::string whole_numbers(datasets::Quantity quantity) {
  if (quantity == datasets::Quantity::latency) return "latencies are whole milliseconds";
  return column(quantity) + " is always whole " + std::string(unit(quantity));
}

void require_options_of(const trainer::PoolModel& model, const OptionParser& options) {
  std::vector<std::string> all;
  for (const trainer::PredictorRow& row : trainer::predictor_registry()) {
    all.insert(all.end(), row.adapt_options.begin(), row.adapt_options.end());
  }
  const trainer::PredictorRow& row = trainer::predictor_row(std::string(model.kind()));
  options.require_of(row.adapt_options, all, "the checkpoint's predictor " + row.name);
}

void remark_on_descriptor(const trainer::PoolModel& model, const datasets::HardwareDescriptor& descriptor) {
  if (model.descriptor_kind() == "inferred") {
    say("the descriptor is not used: this checkpoint describes devices by their measured networks");
  } else if (model.descriptor_kind() == "in-network" && !descriptor.has_in_network()) {
    say("the descriptor is not used: it does not say what operations cost inside a network (in_network)");
  } else if (model.descriptor_kind() == "latency" && descriptor.has_counters() &&
             trainer::predictor_row(std::string(model.kind())).richest_descriptor == "counters") {
    say("of the descriptor only the operator latencies are used: this checkpoint's pool has no counters");
  }
}

datasets::JoinedSources read_measurements(const OptionParser& options, const std::vector<std::string>& paths,
                                          const nasbench::NetworkSpace& space, datasets::Quantity quantity) {
  datasets::JoinedSources joined =
      datasets::read_joined({paths.begin(), paths.end()}, space, quantity, options.has("fleet"));
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (paths.size() > 1) say(paths[i] + ":");
    const datasets::MeasuredSource& source = joined.sources[i];
    if (source.kit) report(*source.kit);
    for (const std::string& remark : source.profile_remarks) say(remark);
    report(source.findings);
  }
  for (const std::string& doubt : joined.measured.doubts) say("Warning: " + doubt, {{"warns", true}});
  for (const std::string& remark : joined.remarks(quantity)) say(remark);
  const std::size_t left_out = joined.measured.left_out();
  if (left_out > 0 && options.has("strict")) {
    throw InputError(tenshot::joined(paths) + ": " + std::to_string(left_out) +
                     (left_out == 1 ? " entry" : " entries") + " left out or doubtful, and --strict accepts none");
  }
  return joined;
}

trainer::AdaptationSet adaptation_set(const OptionParser& options, const trainer::PoolModel& model,
                                      datasets::Quantity quantity) {
  trainer::AdaptationSet set;
  set.quantity = quantity;
  const nasbench::NetworkSpace& space = *model.pool().space;
  if (options.has("measurements")) {
    const auto read = read_measurements(options, options.all("measurements"), space, quantity);
    trainer::add_measured(set, read.measured, model);
  }
  if (options.has("runtime")) set.runtime = options.get("runtime");
  if (!options.has("descriptor")) return set;
  if (quantity != datasets::Quantity::latency) {
    throw InputError("--descriptor says what operators take in ms, and this is of " + std::string(name(quantity)) +
                     ": leave it out");
  }
  const std::string path = options.get("descriptor");
  const datasets::DeviceOfSpace device = datasets::read_device(path);
  if (device.space != &space) {
    throw InputError(path + ": describes a device on space " + std::string(device.space->name()) +
                     ", the checkpoint is of " + std::string(space.name()));
  }
  set.descriptor = device.device.descriptor;
  return set;
}

double confidence_option(const OptionParser& options) {
  return options.number_between("confidence", 0, 1, "a share between 0 and 1, such as 0.9");
}

void tell_of_no_intervals(const OptionParser& options, const trainer::Predictor& predictor) {
  if (!options.has("confidence") || predictor.has_intervals()) return;
  say("a predictor of '" + std::string(predictor.kind()) + "' has no intervals: --confidence changes nothing");
}

std::optional<double> limit_option(const OptionParser& options) {
  if (!options.has("limit")) return std::nullopt;
  return options.number_between("limit", 0, HUGE_VAL, "a positive number in the quantity's unit, such as ms");
}

std::optional<datasets::Quantity> quantity_option(const OptionParser& options) {
  if (!options.has("quantity")) return std::nullopt;
  return from_option("quantity", [&] { return datasets::quantity_named(options.get("quantity")); });
}

std::string checkpoint_option(const OptionParser& options, const std::string& name) {
  const std::string given = options.get(name), file = trainer::checkpoint_named(given);
  if (file != given && std::filesystem::exists(given)) {
    say("--" + name + " " + given + ": the shipped checkpoint " + file + " is read; ./" + given + " is none");
  }
  return file;
}

std::string checkpoint_of(const OptionParser& options) {
  if (options.has("checkpoint")) return checkpoint_option(options);
  std::vector<std::filesystem::path> tables;
  for (const char* option : {"archs", "measurements", "descriptor"}) {
    for (const std::string& table : options.all(option)) tables.emplace_back(table);
  }
  const nasbench::NetworkSpace& space =
      options.has("networks") ? nasbench::networks() : datasets::space_given(options.rest(), tables);
  std::filesystem::path found;
  const char* known = options.has("like") ? "like" : "device";
  if (options.has(known)) found = trainer::shipped_knowledge_of(options.get(known), space);
  const bool of_any_space = options.has("like") && tables.empty();
  if (found.empty()) found = trainer::shipped_checkpoint(of_any_space ? nasbench::networks() : space);
  const std::string shipped = found.lexically_normal().string();
  say("checkpoint: " + shipped);
  return shipped;
}

}  // namespace tenshot::cli
