#include "datasets/pool/validate.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "datasets/operators/kernel_table.h"
#include "datasets/pool/device_file.h"
#include "datasets/tables/csv.h"
#include "datasets/tables/space_files.h"
#include "nasbench/support/files.h"
#include "nasbench/support/json_reader.h"
#include "nasbench/support/number_text.h"

namespace tenshot::datasets {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Validation {
 public:
  ValidationReport run(const fs::path& folder) {
    const std::vector<fs::path> folders = device_folders(folder);
    keep_errors([&] { kept_ = read_space_files(folder); });
    file_ = folder.string();
    if (folders.empty()) problem("holds no device, expected */device.json");
    for (const fs::path& device_folder : folders) {
      file_ = (device_folder / "device.json").string();
      keep_errors([&] { check_device(device_folder); });
    }
    return std::move(report_);
  }

 private:
  void problem(const std::string& what) { report_.problems.push_back(file_ + ": " + what); }

  template <class Check>
  void keep_errors(const Check& check) {
    try {
      check();
    } catch (const Error& error) {
      report_.problems.emplace_back(error.what());
    }
  }

  void check_device(const fs::path& folder) {
    const json object = parse_json(read_file(file_), file_);
    if (object.is_object()) check_all_keys(object);
    const DeviceFile contents = device_file_from_json(object, file_, kept_);
    const DeviceRuntime& device = contents.device;
    const NetworkSpace& space = *contents.space;
    ++report_.devices;
    if (folder.filename() != device.id) {
      problem("id is '" + device.id + "', expected its folder's name '" + excerpt(folder.filename().string()) + "'");
    }
    if (!ids_.insert(device.id).second) problem("device '" + device.id + "' stands in another folder too");
    if (space_ == nullptr) space_ = &space;
    if (space_ != &space) {
      problem("is of space '" + std::string(space.name()) + "', devices before it are of '" +
              std::string(space_->name()) + "'; keep one space in one folder");
    }
    if (device.descriptor.source != "none") check_operators(device, space);
    if (device.descriptor.has_in_network()) check_in_network(device, space);
    // On their own, so that a device file's faults and theirs are both found.
    keep_errors([&] { check_latencies(folder, contents); });
    if (is_there(folder / "operators.csv")) keep_errors([&] { read_kernel_table(folder / "operators.csv"); });
  }

  /// Misspelt keys: reading ignores them, so that what they should have said would be lost without a word.
  void check_keys(const json& object, const std::string& path, std::initializer_list<std::string_view> known) {
    std::vector<std::string> unknown;
    for (const auto& entry : object.items()) {
      if (std::find(known.begin(), known.end(), entry.key()) == known.end()) unknown.push_back(entry.key());
    }
    if (!unknown.empty()) problem(path + "unknown keys " + quoted_list(unknown));
  }

  void check_all_keys(const json& device) {
    check_keys(device, "",
               {"format", "space", "id", "device", "runtime", "precision", "batch", "threads", "input_shape",
                "environment", "descriptor", "latencies", "quantity", "unit"});
    const auto descriptor = device.find("descriptor");
    if (descriptor == device.end() || !descriptor->is_object()) return;
    check_keys(*descriptor,
               "descriptor: ", {"source", "counters", "operators", "in_network", "conditions", "simulated"});
    const bool simulated = descriptor->value("source", json()) == "callgrind";
    if (descriptor->value("simulated", json(false)) != simulated) {
      problem(std::string("descriptor.simulated has to be ") + (simulated ? "true" : "false or absent") +
              " for counters of source " + descriptor->value("source", json()).dump());
    }
  }

  /// What of `rows` is not `expected`, each once; `key` says what a row is of.
  template <class Key>
  void check_rows(const std::vector<OperatorProfile>& rows, const std::set<std::string>& expected, const Key& key,
                  const std::string& what, const std::string& wanted) {
    std::set<std::string> found;
    for (const OperatorProfile& row : rows) found.insert(key(row));
    if (found == expected && rows.size() == expected.size()) return;
    const auto known =
        std::count_if(found.begin(), found.end(), [&](const auto& one) { return expected.count(one) > 0; });
    problem("descriptor has " + std::to_string(rows.size()) + what + std::to_string(known) + " of the " +
            std::to_string(expected.size()) + " of space '" + wanted);
  }

  void check_operators(const DeviceRuntime& device, const NetworkSpace& space) {
    const auto key = [](const auto& row) { return nasbench::format(row.key, true); };
    std::set<std::string> expected;
    for (const nasbench::Operator& op : space.operators(space.default_shape(), 1)) expected.insert(key(op));
    const std::vector<OperatorProfile>& operators = device.descriptor.operators;
    check_rows(operators, expected, key, " operators, ", std::string(space.name()) + "'; measure them all, each once");
    for (std::size_t c = 0; c < device.descriptor.counters.size(); ++c) {
      const auto without = std::count_if(operators.begin(), operators.end(),
                                         [&](const OperatorProfile& op) { return std::isnan(op.counts[c]); });
      if (without == 0) continue;
      problem("counter '" + excerpt(device.descriptor.counters[c]) + "' has no value for " + std::to_string(without) +
              " of " + std::to_string(operators.size()) + " operators");
    }
  }

  void check_in_network(const DeviceRuntime& device, const NetworkSpace& space) {
    const bool shape_known = !device.input_shape.empty();
    nasbench::NetworkShape shape = space.default_shape();
    if (shape_known) shape.resolution = device.input_shape[1];
    const auto key = [&](const auto& row) { return nasbench::format(row.key, !shape_known); };
    std::set<std::string> expected;
    try {
      for (const nasbench::OperationChain& chain : space.operation_chains(shape, 1)) expected.insert(key(chain));
    } catch (const InputError& error) {
      return problem(std::string("input_shape: ") + error.what());
    }
    check_rows(device.descriptor.in_network, expected, key, " operations inside a network, ",
               std::string(space.name()) + "' at the device's resolution; measure them all, each once, or none");
  }

  void check_latencies(const fs::path& folder, const DeviceFile& contents) {
    if (contents.latencies.empty()) return problem("names no latencies");
    const fs::path file = folder / contents.latencies;
    const Measurements measurements = read_measurements(file, *contents.space, contents.device.quantity);
    report_.findings.add(measurements.findings);
    const std::string remark =
        disturbance_remark(contents.device.id, never_undisturbed(contents.device), measurements.rows.size());
    if (!remark.empty()) report_.remarks.push_back(remark);
    if (measurements.rows.empty()) {
      report_.problems.push_back(file.string() + ": has no usable latencies in " +
                                 std::to_string(measurements.entries) + " rows");
    }
  }

  ValidationReport report_;
  std::string file_;                     ///< that is looked at
  const NetworkSpace* kept_ = nullptr;   ///< the space that the pool's folder keeps
  const NetworkSpace* space_ = nullptr;  ///< of the first device
  std::set<std::string> ids_;
};

}  // namespace

ValidationReport validate(const fs::path& folder) { return Validation().run(folder); }

std::size_t never_undisturbed(const DeviceRuntime& device) {
  const json environment = json::parse(device.environment, nullptr, false);
  if (!environment.is_object()) return 0;
  const auto found = environment.find("unsettled_architectures");
  return found != environment.end() && found->is_number_unsigned() ? found->get<std::size_t>() : 0;
}

std::string disturbance_remark(const std::string& id, std::size_t count, std::size_t measured) {
  if (count == 0) return "";
  return id + ": " + std::to_string(count) + " of " + std::to_string(measured) +
         " networks were never measured undisturbed";
}

std::string to_text(const ValidationReport& report) {
  std::string text = counted(report.devices, "device") + " read, ";
  std::string remarks;
  for (const std::string& remark : report.remarks) remarks += "  note: " + remark + "\n";
  if (report.sound()) return text + "nothing wrong\n" + remarks;
  text += counted(report.problems.size() + report.findings.total(), "problem") + "\n";
  for (const std::string& problem : report.problems) text += "  " + problem + "\n";
  return text + remarks + to_text(report.findings, Findings::kept);
}

json to_json(const ValidationReport& report) {
  json problems = json::array();
  for (const std::string& problem : report.problems) problems.push_back(excerpt(problem, std::string::npos));
  return {{"devices", report.devices},
          {"problems", std::move(problems)},
          {"remarks", report.remarks},
          {"findings", to_json(report.findings)}};
}

}  // namespace tenshot::datasets
