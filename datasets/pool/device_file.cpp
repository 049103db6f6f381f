#include "datasets/pool/device_file.h"

#include <cmath>

#include "datasets/tables/space_files.h"
#include "nasbench/spaces/specification_json.h"

namespace tenshot::datasets {
namespace {

using nasbench::OperatorSequence;
using nlohmann::json;

std::vector<int> read_input_shape(const JsonReader& reader) {
  std::vector<int> shape;
  const json& list = reader.array("input_shape");
  for (const json& extent : list) shape.push_back(reader.whole_number_of(extent, reader.full("input_shape"), 1));
  if (!shape.empty() && shape.size() != 3) reader.fail("input_shape", "[channels, height, width]", list);
  return shape;
}

std::string read_environment(const JsonReader& reader) {
  const json* environment = reader.find("environment");
  if (environment == nullptr) return "{}";
  if (!environment->is_object()) reader.fail("environment", "an object", *environment);
  return environment->dump(-1, ' ', false, json::error_handler_t::replace);
}

/// What rows of operators and of operations inside a network have in common: all but the counts.
OperatorProfile read_row(const JsonReader& reader, const NetworkSpace& space) {
  OperatorProfile row;
  row.name = reader.text_that("name", "a name", is_filled);
  row.key = read_operator_key(reader, row.name, space);
  row.latency_ms = reader.non_negative_of(reader.require("latency_ms", "a number of ms"), reader.full("latency_ms"));
  return row;
}

OperatorProfile read_operator(const JsonReader& reader, std::size_t counters, const NetworkSpace& space) {
  OperatorProfile profile = read_row(reader, space);
  const json& counts = reader.array("counts");
  if (counts.size() != counters) {
    throw FormatError(reader.file() + ": " + reader.full("counts") + " has " + std::to_string(counts.size()) +
                      " values, expected one for each of the " + std::to_string(counters) + " counters");
  }
  for (const json& count : counts) {
    profile.counts.push_back(count.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                             : reader.non_negative_of(count, reader.full("counts")));
  }
  return profile;
}

void require_nothing_measured(const HardwareDescriptor& descriptor, const std::string& file) {
  for (const auto& [key, empty] :
       {std::pair("operators", descriptor.operators.empty()), std::pair("in_network", descriptor.in_network.empty())}) {
    if (empty) continue;
    throw FormatError(file + ": descriptor." + key + " has entries, which source 'none' cannot have");
  }
}

HardwareDescriptor read_descriptor(const JsonReader& device, const NetworkSpace& space) {
  HardwareDescriptor descriptor;
  const std::optional<JsonReader> found = device.object("descriptor");
  if (!found) return descriptor;
  const JsonReader& reader = *found;
  descriptor.source = reader.text("source", "none");
  const bool counts =
      descriptor.source == "perf_event" || descriptor.source == "perf_stat" || descriptor.source == "callgrind";
  if (!counts && descriptor.source != "latency_only" && descriptor.source != "none") {
    reader.fail("source", "perf_event, perf_stat, callgrind, latency_only or none", *reader.find("source"));
  }
  for (const json& counter : reader.array("counters")) {
    if (!counter.is_string()) reader.fail("counters", "a list of names", counter);
    descriptor.counters.push_back(counter.get<std::string>());
  }
  if (const json* conditions = reader.find("conditions")) {
    if (!conditions->is_object()) reader.fail("conditions", "an object of texts", *conditions);
    for (const auto& [key, value] : conditions->items()) {
      if (!value.is_string()) reader.fail_at(reader.full("conditions." + excerpt(key)), "a text", value);
      descriptor.conditions.emplace(key, value.get<std::string>());
    }
  }
  for (const JsonReader& entry : reader.objects("operators")) {
    descriptor.operators.push_back(read_operator(entry, descriptor.counters.size(), space));
  }
  for (const JsonReader& entry : reader.objects("in_network")) descriptor.in_network.push_back(read_row(entry, space));
  if (counts == descriptor.counters.empty()) {
    throw FormatError(device.file() + ": descriptor.counters has " + std::to_string(descriptor.counters.size()) +
                      " names, which source '" + descriptor.source + "' cannot have");
  }
  if (descriptor.source == "none") require_nothing_measured(descriptor, device.file());
  return descriptor;
}

/// A device file without a quantity holds latencies.
Quantity read_quantity(const JsonReader& reader) {
  const json* quantity = reader.find("quantity");
  if (quantity == nullptr) return Quantity::latency;
  for (const Quantity known : all_quantities) {
    if (!quantity->is_string() || quantity->get_ref<const std::string&>() != name(known)) continue;
    const json* unit = reader.find("unit");
    if (unit != nullptr && *unit != datasets::unit(known)) {
      reader.fail("unit", std::string(datasets::unit(known)) + ", the unit of " + std::string(name(known)), *unit);
    }
    return known;
  }
  reader.fail("quantity", "one of " + quantity_list(), *quantity);
}

DeviceFile read_device_object(const json& object, const std::string& file, const NetworkSpace* kept) {
  const JsonReader reader(object, file, "");
  reader.require_format(device_format, "device file");
  DeviceFile result;
  result.space = &space_of(reader, kept);
  DeviceRuntime& device = result.device;
  device.id = reader.text_that("id", std::string(device_id_rule), is_device_id);
  device.device = reader.text("device", device.id);
  device.runtime = reader.text("runtime", "");
  device.precision = reader.text("precision", "");
  device.batch = reader.whole_number("batch", 0, 0);
  device.threads = reader.whole_number("threads", 0, 0);
  device.input_shape = read_input_shape(reader);
  device.environment = read_environment(reader);
  device.descriptor = read_descriptor(reader, *result.space);
  device.quantity = read_quantity(reader);
  if (reader.find("latencies") != nullptr) {
    result.latencies =
        reader.text_that("latencies", "the name of a file beside this one, without a folder, such as \"latencies.csv\"",
                         is_plain_file_name);
  }
  return result;
}

json row_json(const OperatorProfile& row, const NetworkSpace& space) {
  json object = {{"latency_ms", row.latency_ms}};
  put_operator(object, row.name, row.key, space);
  return object;
}

json to_json(const OperatorProfile& profile, const NetworkSpace& space) {
  json counts = json::array();
  for (const double count : profile.counts) counts.push_back(std::isnan(count) ? json() : json(count));
  json object = row_json(profile, space);
  object["counts"] = std::move(counts);
  return object;
}

json to_json(const HardwareDescriptor& descriptor, const NetworkSpace& space) {
  json operators = json::array();
  for (const OperatorProfile& profile : descriptor.operators) operators.push_back(to_json(profile, space));
  json object = {{"source", descriptor.source}, {"counters", descriptor.counters}, {"operators", std::move(operators)}};
  for (const OperatorProfile& latency : descriptor.in_network) object["in_network"].push_back(row_json(latency, space));
  if (descriptor.simulated()) object["simulated"] = true;
  if (!descriptor.conditions.empty()) object["conditions"] = descriptor.conditions;
  return object;
}

OperatorSequence key_by_name(const std::string& name, int channels, int resolution,
                             const nasbench::NetworkSpace& space) {
  const auto known = space.named_operation(name, channels, resolution);
  return known ? *known : nasbench::opaque_operator(name, channels, resolution);
}

}  // namespace

bool is_device_id(std::string_view id) {
  constexpr std::size_t longest = 128;
  return is_plain_name(id) && id.size() <= longest && id.front() != '.';
}

DeviceFile device_file_from_json(const json& object, const std::string& file, const NetworkSpace* kept) {
  return guarded_json(file, "device file", [&] { return read_device_object(object, file, kept); });
}

std::string measurements_name(Quantity quantity) {
  return quantity == Quantity::latency ? "latencies.csv" : std::string(name(quantity)) + ".csv";
}

json to_json(const DeviceRuntime& device, const NetworkSpace& space) {
  json object = {{"format", device_format},
                 {"space", space.name()},
                 {"id", device.id},
                 {"device", device.device},
                 {"runtime", device.runtime},
                 {"precision", device.precision},
                 {"batch", device.batch},
                 {"threads", device.threads},
                 {"input_shape", device.input_shape},
                 {"environment", parse_json(device.environment, "the environment of device '" + device.id + "'")},
                 {"descriptor", to_json(device.descriptor, space)},
                 {"latencies", measurements_name(device.quantity)}};
  if (device.quantity != Quantity::latency) {
    object["quantity"] = name(device.quantity);
    object["unit"] = unit(device.quantity);
  }
  return object;
}

bool is_known_by_name(const std::string& name, const OperatorSequence& key, const nasbench::NetworkSpace& space) {
  return key == key_by_name(name, key.channels(), key.resolution(), space);
}

void put_operator(nlohmann::json& entry, const std::string& name, const OperatorSequence& key,
                  const nasbench::NetworkSpace& space) {
  entry["name"] = name;
  entry["channels"] = key.channels();
  entry["resolution"] = key.resolution();
  if (is_known_by_name(name, key, space)) return;
  entry["input"] = key.input;
  entry["operators"] = nlohmann::json::array();
  for (const nasbench::OperatorSpecification& op : key.operators) {
    entry["operators"].push_back(nasbench::specification_json(op));
  }
}

OperatorSequence read_operator_key(const JsonReader& entry, const std::string& name,
                                   const nasbench::NetworkSpace& space) {
  const int channels = entry.whole_number("channels", 0, 0), resolution = entry.whole_number("resolution", 0, 0);
  if (entry.find("operators") == nullptr) return key_by_name(name, channels, resolution, space);
  OperatorSequence key;
  key.input = nasbench::shape_from_json(entry, "input", "the shape of what the operators read");
  for (const JsonReader& op : entry.objects("operators")) {
    key.operators.push_back(nasbench::specification_from_json(op));
  }
  return key;
}

}  // namespace tenshot::datasets
