#include "datasets/device_file.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"

namespace tenshot::datasets {
namespace {

using nlohmann::json;

constexpr int largest_count = 1'000'000'000;  ///< of batch, threads, channels, pixels

/// One object of a device file: reads its keys, and names file and key when one is not what it should be.
class Reader {
 public:
  /// `path` leads to the object ("descriptor.operators[3]"), empty at the top.
  Reader(const json& object, const std::string& file, std::string path)
      : object_(object), file_(file), path_(std::move(path)) {
    if (!object_.is_object()) fail_at(path_.empty() ? "the file" : path_, "an object", object_);
  }

  /// The value of `key`, or nullptr where it is absent or null.
  const json* find(const char* key) const {
    const auto found = object_.find(key);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }

  const json& require(const char* key, const char* expected) const {
    const json* value = find(key);
    if (value == nullptr) throw FormatError(file_ + ": no key '" + full(key) + "', expected " + expected);
    return *value;
  }

  std::string text(const char* key, std::string otherwise) const {
    const json* value = find(key);
    if (value == nullptr) return otherwise;
    if (!value->is_string()) fail(key, "a text", *value);
    return value->get<std::string>();
  }

  int whole_number(const char* key, int least, int otherwise) const {
    const json* value = find(key);
    return value == nullptr ? otherwise : whole_number_of(*value, full(key), least);
  }

  int whole_number_of(const json& value, const std::string& place, int least) const {
    // An unsigned value beyond int64 would turn negative if it were asked for as a signed one.
    const bool small = value.is_number_unsigned()
                           ? value.get<std::uint64_t>() <= largest_count
                           : value.is_number_integer() && value.get<std::int64_t>() <= largest_count;
    if (!small || value.get<std::int64_t>() < least) {
      fail_at(place, "a whole number from " + std::to_string(least) + " to " + std::to_string(largest_count), value);
    }
    return value.get<int>();
  }

  double non_negative_of(const json& value, const std::string& place) const {
    const double number = value.is_number() ? value.get<double>() : -1;
    if (!(number >= 0) || std::isinf(number)) fail_at(place, "a finite number that is not negative", value);
    return number;
  }

  const json& array(const char* key) const {
    static const json none = json::array();
    const json* value = find(key);
    if (value == nullptr) return none;
    if (!value->is_array()) fail(key, "a list", *value);
    return *value;
  }

  [[noreturn]] void fail(const char* key, const std::string& expected, const json& found) const {
    fail_at(full(key), expected, found);
  }

  [[noreturn]] void fail_at(const std::string& place, const std::string& expected, const json& found) const {
    const bool scalar = found.is_primitive();
    const std::string value = scalar ? excerpt(found.dump(-1, ' ', false, json::error_handler_t::replace))
                                     : "an " + std::string(found.type_name());
    throw FormatError(file_ + ": " + place + " is " + value + ", expected " + expected);
  }

  std::string full(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }
  const std::string& file() const { return file_; }

 private:
  const json& object_;
  const std::string& file_;
  std::string path_;
};

void require_format(const Reader& reader) {
  const json& format = reader.require("format", "\"tenshot.device/1\": this is no device file");
  if (!format.is_string()) reader.fail("format", "\"tenshot.device/1\"", format);
  const auto found = format.get<std::string>();
  if (found == device_format) return;
  constexpr std::string_view family = "tenshot.device/";
  const bool ours = std::string_view(found).substr(0, family.size()) == family;
  const auto version = ours ? parse_integer(std::string_view(found).substr(family.size())) : std::nullopt;
  const std::string message = reader.file() + ": format is '" + excerpt(found) + "'";
  if (version && *version > 1) {
    throw FormatError(message + ", newer than this tenshot reads (" + std::string(device_format) +
                      "); use a newer tenshot");
  }
  throw FormatError(message + ", expected " + std::string(device_format));
}

const SearchSpace& read_space(const Reader& reader) {
  const json& space = reader.require("space", "the name of a search space, such as \"nasbench201\"");
  if (!space.is_string()) reader.fail("space", "the name of a search space", space);
  try {
    return nasbench::search_space(space.get<std::string>());
  } catch (const InputError& error) {
    throw FormatError(reader.file() + ": space: " + error.what());
  }
}

std::string read_id(const Reader& reader) {
  const json& id = reader.require("id", "the device-runtime's name");
  if (!id.is_string() || !is_device_id(id.get_ref<const std::string&>())) {
    reader.fail("id", std::string(device_id_rule), id);
  }
  return id.get<std::string>();
}

/// A file name that stays in its folder; "-" would be standard input.
bool is_plain_file_name(std::string_view name) {
  const bool ordinary = std::all_of(name.begin(), name.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != 0x7F && c != '/' && c != '\\' && c != ':';
  });
  return ordinary && !name.empty() && name.size() <= 255 && name != "." && name != ".." && name != "-";
}

std::string read_latencies_name(const Reader& reader) {
  const json* name = reader.find("latencies");
  if (name == nullptr) return {};
  if (!name->is_string() || !is_plain_file_name(name->get_ref<const std::string&>())) {
    reader.fail("latencies", "the name of a file beside this one, without a folder, such as \"latencies.csv\"", *name);
  }
  return name->get<std::string>();
}

std::vector<int> read_input_shape(const Reader& reader) {
  std::vector<int> shape;
  const json& list = reader.array("input_shape");
  for (const json& extent : list) shape.push_back(reader.whole_number_of(extent, reader.full("input_shape"), 1));
  if (!shape.empty() && shape.size() != 3) reader.fail("input_shape", "[channels, height, width]", list);
  return shape;
}

std::string read_environment(const Reader& reader) {
  const json* environment = reader.find("environment");
  if (environment == nullptr) return "{}";
  if (!environment->is_object()) reader.fail("environment", "an object", *environment);
  return environment->dump(-1, ' ', false, json::error_handler_t::replace);
}

OperatorProfile read_operator(const Reader& reader, std::size_t counters) {
  OperatorProfile profile;
  profile.name = reader.text("name", "");
  if (profile.name.empty()) reader.require("name", "the operator's name");
  profile.channels = reader.whole_number("channels", 0, 0);
  profile.resolution = reader.whole_number("resolution", 0, 0);
  profile.latency_ms =
      reader.non_negative_of(reader.require("latency_ms", "a number of ms"), reader.full("latency_ms"));
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

HardwareDescriptor read_descriptor(const Reader& device) {
  HardwareDescriptor descriptor;
  const json* object = device.find("descriptor");
  if (object == nullptr) return descriptor;
  const Reader reader(*object, device.file(), "descriptor");
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
  const json& operators = reader.array("operators");
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const Reader entry(operators[i], device.file(), "descriptor.operators[" + std::to_string(i) + "]");
    descriptor.operators.push_back(read_operator(entry, descriptor.counters.size()));
  }
  if (counts == descriptor.counters.empty()) {
    throw FormatError(device.file() + ": descriptor.counters has " + std::to_string(descriptor.counters.size()) +
                      " names, which source '" + descriptor.source + "' cannot have");
  }
  if (descriptor.source == "none" && descriptor.has_latencies()) {
    throw FormatError(device.file() + ": descriptor.operators has entries, which source 'none' cannot have");
  }
  return descriptor;
}

DeviceFile read_device_object(const json& object, const std::string& file) {
  const Reader reader(object, file, "");
  require_format(reader);
  DeviceFile result;
  result.space = &read_space(reader);
  DeviceRuntime& device = result.device;
  device.id = read_id(reader);
  device.device = reader.text("device", device.id);
  device.runtime = reader.text("runtime", "");
  device.precision = reader.text("precision", "");
  device.batch = reader.whole_number("batch", 0, 0);
  device.threads = reader.whole_number("threads", 0, 0);
  device.input_shape = read_input_shape(reader);
  device.environment = read_environment(reader);
  device.descriptor = read_descriptor(reader);
  result.latencies = read_latencies_name(reader);
  return result;
}

/// What the JSON library says, without its error codes.
std::string reason(const json::exception& error) {
  const std::string_view text = error.what();
  const std::size_t code_end = text.find("] ");
  return excerpt(code_end == std::string_view::npos ? text : text.substr(code_end + 2));
}

json to_json(const OperatorProfile& profile) {
  json counts = json::array();
  for (const double count : profile.counts) counts.push_back(std::isnan(count) ? json() : json(count));
  return {{"name", profile.name},
          {"channels", profile.channels},
          {"resolution", profile.resolution},
          {"latency_ms", profile.latency_ms},
          {"counts", std::move(counts)}};
}

json to_json(const HardwareDescriptor& descriptor) {
  json operators = json::array();
  for (const OperatorProfile& profile : descriptor.operators) operators.push_back(to_json(profile));
  json object = {{"source", descriptor.source}, {"counters", descriptor.counters}, {"operators", std::move(operators)}};
  if (descriptor.simulated()) object["simulated"] = true;
  if (!descriptor.conditions.empty()) object["conditions"] = descriptor.conditions;
  return object;
}

}  // namespace

bool is_device_id(std::string_view id) {
  constexpr std::size_t longest = 128;
  return !id.empty() && id.size() <= longest && id.front() != '.' && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  });
}

json parse_json(std::string_view text, const std::string& file) {
  constexpr int deepest = 64;
  const auto limit_depth = [&](int depth, json::parse_event_t, json&) {
    if (depth > deepest) throw FormatError(file + ": is nested deeper than " + std::to_string(deepest) + " levels");
    return true;
  };
  try {
    return json::parse(text.begin(), text.end(), limit_depth);
  } catch (const json::parse_error& error) {
    const std::string_view before = text.substr(0, error.byte);
    throw FormatError(file + ":" + std::to_string(std::count(before.begin(), before.end(), '\n') + 1) +
                      ": is not valid JSON here (syntax, or text that is not UTF-8)");
  } catch (const json::exception& error) {
    throw FormatError(file + ": is not JSON that tenshot can read (" + reason(error) + ")");
  }
}

DeviceFile device_file_from_json(const json& object, const std::string& file) {
  try {
    return read_device_object(object, file);
  } catch (const json::exception& error) {
    throw FormatError(file + ": is no device file (" + reason(error) + ")");
  }
}

DeviceFile parse_device_file(std::string_view text, const std::string& file) {
  return device_file_from_json(parse_json(text, file), file);
}

DeviceRuntime device_from_json(const json& object, const std::string& file) {
  return device_file_from_json(object, file).device;
}

json to_json(const DeviceRuntime& device, const SearchSpace& space) {
  return {{"format", device_format},
          {"space", space.name()},
          {"id", device.id},
          {"device", device.device},
          {"runtime", device.runtime},
          {"precision", device.precision},
          {"batch", device.batch},
          {"threads", device.threads},
          {"input_shape", device.input_shape},
          {"environment", parse_json(device.environment, "the environment of device '" + device.id + "'")},
          {"descriptor", to_json(device.descriptor)},
          {"latencies", "latencies.csv"}};
}

}  // namespace tenshot::datasets
