#include "datasets/collect/collect_record.h"

#include <cmath>
#include <ctime>
#include <iterator>
#include <nlohmann/json.hpp>

#include "datasets/collect/collect.h"
#include "descriptor/machine/instruction_set.h"
#include "descriptor/machine/machine.h"
#include "nasbench/support/numbers.h"

namespace tenshot::descriptor {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TimingOptions, warmup_runs, warmup_ms, minimum_runs, maximum_runs,
                                   relative_precision, rounds)

}  // namespace tenshot::descriptor

namespace tenshot::datasets {

using nlohmann::json;

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LeftOut, architecture, reason)

static void to_json(json& object, const MachineState& state) {
  object = {{"load_average", state.load_average}};
  if (state.frequency_mhz) object["frequency_mhz"] = *state.frequency_mhz;
  if (state.temperature_c) object["temperature_c"] = *state.temperature_c;
}

static void from_json(const json& object, MachineState& state) {
  object.at("load_average").get_to(state.load_average);
  if (object.contains("frequency_mhz")) state.frequency_mhz = object["frequency_mhz"].get<double>();
  if (object.contains("temperature_c")) state.temperature_c = object["temperature_c"].get<double>();
}

namespace {

/// To the nearest millionth, printed without the digits that binary fractions add.
json short_number(double value) {
  constexpr double per_unit = 1e6;
  return std::round(value * per_unit) / per_unit;
}

constexpr std::pair<const char*, std::optional<double> descriptor::Contention::*> perhaps_known[] = {
    {"steal_s", &descriptor::Contention::steal_s},
    {"wait_s", &descriptor::Contention::wait_s},
    {"task_clock_s", &descriptor::Contention::task_clock_s},
    {"page_faults", &descriptor::Contention::page_faults},
    {"context_switches", &descriptor::Contention::context_switches}};

json contention_json(const descriptor::Contention& contention) {
  json object = {{"elapsed_s", short_number(contention.elapsed_s)},
                 {"involuntary_switches", contention.involuntary_switches},
                 {"cpus", contention.cpus}};
  for (const auto& [key, field] : perhaps_known) {
    if (contention.*field) object[key] = short_number(*(contention.*field));
  }
  return object;
}

descriptor::Contention contention_from(const json& object) {
  descriptor::Contention contention;
  contention.elapsed_s = object.at("elapsed_s").get<double>();
  contention.involuntary_switches = object.at("involuntary_switches").get<long>();
  contention.cpus = object.at("cpus").get<int>();
  for (const auto& [key, field] : perhaps_known) {
    if (object.contains(key)) contention.*field = object[key].get<double>();
  }
  return contention;
}

json sentinel_json(const CollectRecord& record) {
  json object = {{"architecture", record.sentinel_architecture}, {"tolerance", record.sentinel_tolerance}};
  json values = json::array();
  for (const double value : record.sentinel_ms) values.push_back(short_number(value));
  if (!record.sentinel_ms.empty()) {
    const auto [least, most] = std::minmax_element(record.sentinel_ms.begin(), record.sentinel_ms.end());
    object["median_ms"] = short_number(descriptor::summarise(record.sentinel_ms).median_ms);
    object["minimum_ms"] = short_number(*least);
    object["maximum_ms"] = short_number(*most);
  }
  object["values_ms"] = std::move(values);
  return object;
}

/// Calls `field(key, member)` for every member that stands in the environment under a key of its own, and
/// `later(key, member)` for those that files of earlier releases lack.
template <class Record, class Field, class Later>
void for_each_field(Record& record, const Field& field, const Later& later) {
  field("cpu", record.cpu);
  field("runtime_version", record.runtime_version);
  field("weight_seed", record.weight_seed);
  field("classes", record.classes);
  later("instruction_set", record.instruction_set);
  later("heap", record.heap);
  field("timing", record.timing);
  field("cores", record.cores);
  field("kernel", record.kernel);
  field("pinned_cpus", record.pinned_cpus);
  field("started_utc", record.started_utc);
  field("saved_utc", record.saved_utc);
  field("before", record.before);
  field("after", record.after);
  field("batch_size", record.batch_size);
  later("unsettled_architectures", record.unsettled_architectures);
  field("repeated_batches", record.repeated_batches);
  later("disturbed_visits", record.disturbed_visits);
  field("sessions", record.sessions);
  field("preparation_s", record.preparation_s);
  field("warmup_s", record.warmup_s);
  field("measuring_s", record.measuring_s);
  field("runs_s", record.runs_s);
  later("sentinel_s", record.sentinel_s);
  field("complete", record.complete);
}

CollectRecord read_record(const json& environment) {
  CollectRecord record;
  const auto required = [&](const char* key, auto& member) { environment.at(key).get_to(member); };
  for_each_field(record, required, [&](const char* key, auto& member) {
    if (environment.contains(key)) required(key, member);
  });
  const json& sentinel = environment.at("sentinel");
  sentinel.at("architecture").get_to(record.sentinel_architecture);
  sentinel.at("tolerance").get_to(record.sentinel_tolerance);
  sentinel.at("values_ms").get_to(record.sentinel_ms);
  if (environment.contains("contention")) record.contention = contention_from(environment["contention"]);
  if (environment.contains("repeatability") && environment["repeatability"].contains("undisturbed_architectures")) {
    const json& object = environment["repeatability"];
    record.repeatability = {object.at("undisturbed_architectures").get<std::size_t>(),
                            object.at("median_relative_difference").get<double>(),
                            object.at("within_10_percent").get<double>()};
  }
  environment.value("left_out", json::array()).get_to(record.left_out);
  return record;
}

}  // namespace

json to_json(const CollectRecord& record) {
  json environment = {{"sentinel", sentinel_json(record)}};
  const auto put = [&](const char* key, const auto& member) {
    if constexpr (std::is_same_v<decltype(member), const double&>) {
      environment[key] = short_number(member);
    } else {
      environment[key] = member;
    }
  };
  for_each_field(record, put, put);
  if (record.contention) environment["contention"] = contention_json(*record.contention);
  if (record.repeatability) {
    environment["repeatability"] = {
        {"undisturbed_architectures", record.repeatability->architectures},
        {"median_relative_difference", short_number(record.repeatability->median_relative_difference)},
        {"within_10_percent", short_number(record.repeatability->within_10_percent)}};
  }
  if (!record.left_out.empty()) environment["left_out"] = record.left_out;
  return environment;
}

CollectRecord record_of(const DeviceRuntime& device, const std::string& file) {
  try {
    return read_record(json::parse(device.environment));
  } catch (const json::exception& error) {
    throw InputError(file + ": its environment is not one that collect wrote (" + error.what() +
                     "), so its measurements cannot be continued; choose another folder or id");
  }
}

std::string to_text(const CollectRecord& record) {
  const auto rounded = [](double value, double digits) { return shortest(std::round(value * digits) / digits); };
  std::string text = "timed runs " + rounded(record.runs_s, 10) + " s";
  if (record.runs_s > 0) text += ", their loops " + rounded(record.measuring_s / record.runs_s, 100) + " times that";
  text += ", warm-up " + rounded(record.warmup_s, 10) + " s, preparation " + rounded(record.preparation_s, 10) +
          " s, sentinel " + rounded(record.sentinel_s, 10) + " s";
  if (record.unsettled_architectures > 0) {
    text += "; " + std::to_string(record.unsettled_architectures) + " architectures were never measured undisturbed";
  }
  if (!record.left_out.empty()) {
    text += "; " + std::to_string(record.left_out.size()) + " left out, which the runtime cannot run";
  }
  if (record.repeatability) {
    text += "; measured again, the median difference is " +
            rounded(100 * record.repeatability->median_relative_difference, 10) + " %, and " +
            rounded(100 * record.repeatability->within_10_percent, 1) + " % are within 10 %";
  }
  return text;
}

void require_measured_alike(const DeviceRuntime& found, const DeviceRuntime& wanted, const json& conditions,
                            const std::string& file) {
  const json environment = json::parse(found.environment, nullptr, false);
  std::string different;
  for (const auto& [key, value] : conditions.items()) {
    const json was = environment.is_object() && environment.contains(key) ? environment[key] : json();
    if (was == value) continue;
    different += (different.empty() ? "" : "; ") + key + " " + was.dump() + ", asked for " + value.dump();
  }
  const bool same_device = found.runtime == wanted.runtime && found.batch == wanted.batch &&
                           found.threads == wanted.threads && found.input_shape == wanted.input_shape;
  if (!same_device) {
    different += std::string(different.empty() ? "" : "; ") + "another runtime, batch, number of threads or resolution";
  }
  if (different.empty()) return;
  throw InputError(file + ": was measured with " + different + "; choose another folder or id, or the same settings");
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::vector<Architecture> without_duplicates(const std::vector<Architecture>& architectures) {
  nasbench::ArchitectureSet seen;
  std::vector<Architecture> result;
  std::copy_if(architectures.begin(), architectures.end(), std::back_inserter(result),
               [&](const Architecture& architecture) { return seen.insert(architecture).second; });
  return result;
}

void require_instruction_set(const std::string& instruction_set) {
  if (descriptor::instruction_set_in_force(instruction_set)) return;
  throw InputError("instruction_set is " + instruction_set +
                   ", but this process was started without its environment variables");
}

void require_sensible(const CollectOptions& options, const descriptor::Runtime& runtime) {
  require_instruction_set(options.instruction_set);
  if (options.instruction_set != "native" && !runtime.follows_instruction_set()) {
    throw InputError(std::string(runtime.name()) +
                     " cannot be told which instructions to use; leave the instruction set native");
  }
  if (options.sentinel_tolerance > 0) return;
  throw InputError("sentinel_tolerance is " + shortest(options.sentinel_tolerance) +
                   "; expected a positive fraction such as 0.05");
}

std::string default_id(std::string_view runtime, const CollectOptions& options) {
  std::string id = std::string(runtime) + "_t" + std::to_string(options.runtime_options.threads) + "_b" +
                   std::to_string(options.runtime_options.batch);
  constexpr int usual_resolution = 32;
  if (options.shape.resolution != usual_resolution) id += "_r" + std::to_string(options.shape.resolution);
  if (options.instruction_set != "native") id += "_" + options.instruction_set;
  return id;
}

DeviceRuntime described_device(const CollectOptions& options, const NetworkSpace& space,
                               const descriptor::Runtime& runtime, Quantity quantity) {
  DeviceRuntime device;
  device.id = options.id.empty() ? default_id(runtime.name(), options) : options.id;
  if (options.id.empty() && quantity != Quantity::latency) device.id += "_" + std::string(name(quantity));
  device.device = options.device.empty() ? descriptor::cpu_model() : options.device;
  device.runtime = std::string(runtime.name());
  device.precision = std::string(runtime.precision());
  device.batch = options.runtime_options.batch;
  device.threads = options.runtime_options.threads;
  device.quantity = quantity;
  device.input_shape = space.input_shape(options.shape);
  return device;
}

}  // namespace tenshot::datasets
