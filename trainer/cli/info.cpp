#include <algorithm>
#include <iostream>

#include "datasets/kit/kit.h"
#include "datasets/pool/describe.h"
#include "datasets/pool/pool.h"
#include "datasets/tables/csv.h"
#include "nasbench/support/files.h"
#include "trainer/cli/shared_options.h"
#include "trainer/core/archive.h"

namespace tenshot::cli {
namespace {

namespace fs = std::filesystem;

using Facts = std::vector<std::pair<std::string, std::string>>;

/// The text of a JSON value: strings as they are, everything else as JSON.
std::string text_of(const nlohmann::json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

void add_if_there(Facts& facts, const nlohmann::json& object,
                  const std::vector<std::pair<std::string, std::string>>& known) {
  for (const auto& [key, label] : known) {
    if (object.is_object() && object.contains(key)) facts.emplace_back(label, text_of(object[key]));
  }
}

std::string ids_of(const nlohmann::json& devices) {
  std::vector<std::string> ids;
  for (const nlohmann::json& device : devices) {
    ids.push_back(text_of(device.is_object() ? device.value("id", nlohmann::json("?")) : device));
  }
  return joined(ids);
}

/// A line for each source of knowledge: "source: NAME (LICENCE, 12 of 40 device-runtimes), URL".
void add_sources(Facts& facts, const nlohmann::json& card) {
  if (!card.contains("knowledge") || !card["knowledge"].is_object()) return;
  const nlohmann::json sources = card["knowledge"].value("sources", nlohmann::json::array());
  const nlohmann::json devices = card.value("pool", nlohmann::json::object()).value("devices", nlohmann::json::array());
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const auto of_source = [&](const nlohmann::json& device) {
      return device.is_object() && device.contains("source") && device["source"] == s;
    };
    const auto count = std::count_if(devices.begin(), devices.end(), of_source);
    const nlohmann::json& source = sources[s];
    if (!source.is_object()) continue;
    const auto text = [&](const char* key) { return source.contains(key) ? text_of(source[key]) : std::string("?"); };
    facts.emplace_back("source", text("name") + " (" + text("licence") + ", " + std::to_string(count) + " of " +
                                     std::to_string(devices.size()) + " device-runtimes)" +
                                     (text("url").empty() ? "" : ", " + text("url")));
  }
}

Facts describe_archive(const std::string& bytes, const std::string& file) {
  const trainer::Archive archive = trainer::Archive::parse(bytes, file);
  const nlohmann::json& card = archive.card;
  Facts facts;
  add_if_there(facts, card,
               {{"content", "what"}, {"predictor", "predictor"}, {"space", "space"}, {"quantity", "quantity"}});
  if (card.contains("pool") && card["pool"].is_object() && card["pool"].contains("devices")) {
    facts.emplace_back("pool", std::to_string(card["pool"]["devices"].size()) +
                                   " device-runtimes: " + ids_of(card["pool"]["devices"]));
  }
  add_sources(facts, card);
  add_if_there(facts, card,
               {{"known_device", "device"}, {"measured", "adapted to"}, {"explanation", "found"}, {"seed", "seed"}});
  add_if_there(facts, card.value("versions", nlohmann::json()), {{"tenshot", "tenshot"}, {"libtorch", "LibTorch"}});
  return facts;
}

Facts describe_device(const fs::path& path) {
  const datasets::DeviceOfSpace found = datasets::read_device(path);
  const datasets::DeviceRuntime& device = found.device;
  return {
      {"what", "device-runtime"},
      {"id", device.id},
      {"space", std::string(found.space->name())},
      {"device", device.device},
      {"runtime", device.runtime},
      {"measured", std::to_string(device.latencies.size()) + " architectures" +
                       (device.quantity == datasets::Quantity::latency
                            ? std::string()
                            : ", " + std::string(name(device.quantity)) + " in " + std::string(unit(device.quantity)))},
      {"descriptor", device.descriptor.source + (device.descriptor.simulated() ? " (simulated)" : "")}};
}

Facts describe_kit(const fs::path& folder) {
  const datasets::KitManifest manifest = datasets::read_kit_manifest(folder);
  const auto count = [&](const auto& holds) {
    return std::count_if(manifest.models.begin(), manifest.models.end(), holds);
  };
  const auto architectures = count([](const datasets::KitModel& model) { return model.is_architecture(); });
  const auto converted = count([](const datasets::KitModel& model) { return !model.converted_sha256.empty(); });
  return {{"what", "measurement kit"},
          {"id", manifest.id},
          {"space", std::string(manifest.space->name())},
          {"architectures", std::to_string(architectures)},
          {"models", std::to_string(manifest.models.size()) +
                         (converted == 0 ? "" : ", " + std::to_string(converted) + " of them converted")},
          {"batch", std::to_string(manifest.batch)},
          {"measured", fs::exists(folder / "results") ? "results/ is there" : "not yet: run measure.sh on the device"}};
}

Facts describe_pool(const fs::path& folder, std::optional<datasets::Quantity> quantity) {
  const datasets::PoolSummary summary = datasets::describe(datasets::read_pool(folder, quantity));
  Facts facts = {{"what", "pool of device-runtimes"},
                 {"space", summary.space},
                 {"architectures", std::to_string(summary.architectures)}};
  if (summary.quantity != datasets::Quantity::latency) facts.emplace_back("quantity", name(summary.quantity));
  for (const datasets::DeviceSummary& device : summary.devices) {
    facts.emplace_back(device.id,
                       std::to_string(device.measured) + " measured, descriptor " + device.descriptor_source);
  }
  return facts;
}

std::string table_kind(const datasets::CsvReader& csv) {
  if (csv.find("operation")) return "operators of networks";
  if (csv.find("trial") && csv.find("method")) return "results of an experiment";
  if (!csv.find("architecture") && !csv.find("network")) return "table without an architecture column";
  if (csv.find("rank")) return "plan";
  if (csv.find("lower_ms") || csv.find("lower_mj") || csv.find("lower_mib")) return "predictions with intervals";
  if (!datasets::quantities_in(csv.header()).empty()) return "measurements or predictions";
  return csv.header().size() == 1 ? "list of architectures" : "wide table, one column per device-runtime";
}

Facts describe_table(const std::string& text, const std::string& file) {
  datasets::CsvReader csv(text, file);
  std::size_t rows = 0;
  while (csv.next()) ++rows;
  return {{"what", table_kind(csv)}, {"rows", std::to_string(rows)}, {"columns", datasets::quoted_list(csv.header())}};
}

Facts describe_json(const std::string& text, const std::string& file) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) throw FormatError(file + ": is neither a JSON object nor a table");
  Facts facts;
  for (const char* key :
       {"format", "name", "description", "id", "content", "predictor", "space", "devices", "device"}) {
    if (json.contains(key) && json[key].is_primitive()) facts.emplace_back(key, text_of(json[key]));
  }
  if (facts.empty()) throw FormatError(file + ": is JSON, but no file of tenshot's: it has no 'format'");
  return facts;
}

Facts describe_file(const fs::path& path, std::optional<datasets::Quantity> quantity) {
  if (fs::is_directory(path)) {
    if (datasets::is_kit(path)) return describe_kit(path);
    return fs::exists(path / "device.json") ? describe_device(path) : describe_pool(path, quantity);
  }
  const std::string content = read_file(path), file = path.string();
  if (content.compare(0, 8, "TENSHOT\n") == 0) return describe_archive(content, file);
  const std::size_t first = content.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) throw FormatError(file + ": is empty");
  if (content[first] != '{') {
    if (content.find('\0') != std::string::npos) throw FormatError(file + ": is a binary file that is not tenshot's");
    return describe_table(content, file);
  }
  return path.filename() == "device.json" ? describe_device(path) : describe_json(content, file);
}

}  // namespace

void run_info(const OptionParser& options) {
  const std::string path = options.required("file");
  const Facts facts = describe_file(path, quantity_option(options));
  if (options.has("json")) {
    nlohmann::ordered_json json;
    for (const auto& [label, text] : facts) {
      nlohmann::ordered_json& value = json[label];
      if (value.is_string()) value = nlohmann::ordered_json::array({value});
      value.is_null() ? void(value = text) : value.push_back(text);
    }
    std::cout << json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
    return;
  }
  for (const auto& [label, text] : facts) std::cout << label << ": " << text << "\n";
}

}  // namespace tenshot::cli
