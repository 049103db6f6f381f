#include "datasets/collect/collect_record.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "descriptor/machine/machine.h"
#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"

namespace tenshot::descriptor {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TimingOptions, warmup_runs, warmup_ms, minimum_runs, maximum_runs,
                                   relative_precision, rounds)

}  // namespace tenshot::descriptor

namespace tenshot::datasets {
namespace {

using nlohmann::json;

/// To the nearest millionth, printed without the digits that binary fractions add.
json short_number(double value) {
  constexpr double per_unit = 1e6;
  return std::round(value * per_unit) / per_unit;
}

json state_json(const MachineState& state) {
  json object = {{"load_average", state.load_average}};
  if (state.frequency_mhz) object["frequency_mhz"] = *state.frequency_mhz;
  if (state.temperature_c) object["temperature_c"] = *state.temperature_c;
  return object;
}

MachineState state_from(const json& object) {
  MachineState state;
  state.load_average = object.at("load_average").get<std::vector<double>>();
  if (object.contains("frequency_mhz")) state.frequency_mhz = object["frequency_mhz"].get<double>();
  if (object.contains("temperature_c")) state.temperature_c = object["temperature_c"].get<double>();
  return state;
}

template <class T>
void put_known(json& object, const char* key, const std::optional<T>& value) {
  if (value) object[key] = short_number(*value);
}

json contention_json(const descriptor::Contention& contention) {
  json object = {{"elapsed_s", short_number(contention.elapsed_s)},
                 {"involuntary_switches", contention.involuntary_switches},
                 {"cpus", contention.cpus}};
  put_known(object, "steal_s", contention.steal_s);
  put_known(object, "wait_s", contention.wait_s);
  put_known(object, "task_clock_s", contention.task_clock_s);
  put_known(object, "page_faults", contention.page_faults);
  put_known(object, "context_switches", contention.context_switches);
  return object;
}

descriptor::Contention contention_from(const json& object) {
  const auto known = [&](const char* key) {
    return object.contains(key) ? std::optional<double>(object[key].get<double>()) : std::nullopt;
  };
  descriptor::Contention contention;
  contention.elapsed_s = object.at("elapsed_s").get<double>();
  contention.involuntary_switches = object.at("involuntary_switches").get<long>();
  contention.cpus = object.at("cpus").get<int>();
  contention.steal_s = known("steal_s");
  contention.wait_s = known("wait_s");
  contention.task_clock_s = known("task_clock_s");
  contention.page_faults = known("page_faults");
  contention.context_switches = known("context_switches");
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

CollectRecord read_record(const json& environment) {
  CollectRecord record;
  const auto text = [&](const char* key) { return environment.at(key).get<std::string>(); };
  const auto count = [&](const char* key) { return environment.at(key).get<int>(); };
  const auto seconds = [&](const char* key) { return environment.at(key).get<double>(); };
  record.cpu = text("cpu");
  record.runtime_version = text("runtime_version");
  record.weight_seed = environment.at("weight_seed").get<std::uint64_t>();
  record.classes = count("classes");
  record.instruction_set = environment.value("instruction_set", "native");
  record.heap = environment.value("heap", record.heap);
  environment.at("timing").get_to(record.timing);
  const json& sentinel = environment.at("sentinel");
  record.sentinel_architecture = sentinel.at("architecture").get<std::string>();
  record.sentinel_tolerance = sentinel.at("tolerance").get<double>();
  record.sentinel_ms = sentinel.at("values_ms").get<std::vector<double>>();
  record.cores = count("cores");
  record.kernel = text("kernel");
  record.pinned_cpus = environment.at("pinned_cpus").get<std::vector<int>>();
  record.started_utc = text("started_utc");
  record.saved_utc = text("saved_utc");
  record.before = state_from(environment.at("before"));
  record.after = state_from(environment.at("after"));
  record.batch_size = count("batch_size");
  record.unsettled_architectures = environment.value("unsettled_architectures", 0);
  record.repeated_batches = count("repeated_batches");
  record.disturbed_visits = environment.value("disturbed_visits", 0);
  record.sessions = count("sessions");
  record.preparation_s = seconds("preparation_s");
  record.warmup_s = seconds("warmup_s");
  record.measuring_s = seconds("measuring_s");
  record.runs_s = seconds("runs_s");
  record.sentinel_s = environment.value("sentinel_s", 0.0);
  record.complete = environment.at("complete").get<bool>();
  if (environment.contains("contention")) record.contention = contention_from(environment["contention"]);
  if (environment.contains("repeatability") && environment["repeatability"].contains("undisturbed_architectures")) {
    const json& object = environment["repeatability"];
    record.repeatability = {object.at("undisturbed_architectures").get<std::size_t>(),
                            object.at("median_relative_difference").get<double>(),
                            object.at("within_10_percent").get<double>()};
  }
  for (const json& entry : environment.value("left_out", json::array())) {
    record.left_out.push_back({entry.at("architecture").get<std::string>(), entry.at("reason").get<std::string>()});
  }
  return record;
}

}  // namespace

json to_json(const CollectRecord& record) {
  json environment = {{"cpu", record.cpu},
                      {"runtime_version", record.runtime_version},
                      {"weight_seed", record.weight_seed},
                      {"classes", record.classes},
                      {"instruction_set", record.instruction_set},
                      {"heap", record.heap},
                      {"timing", record.timing},
                      {"sentinel", sentinel_json(record)},
                      {"cores", record.cores},
                      {"kernel", record.kernel},
                      {"pinned_cpus", record.pinned_cpus},
                      {"started_utc", record.started_utc},
                      {"saved_utc", record.saved_utc},
                      {"before", state_json(record.before)},
                      {"after", state_json(record.after)},
                      {"batch_size", record.batch_size},
                      {"unsettled_architectures", record.unsettled_architectures},
                      {"repeated_batches", record.repeated_batches},
                      {"disturbed_visits", record.disturbed_visits},
                      {"sessions", record.sessions},
                      {"preparation_s", short_number(record.preparation_s)},
                      {"warmup_s", short_number(record.warmup_s)},
                      {"measuring_s", short_number(record.measuring_s)},
                      {"runs_s", short_number(record.runs_s)},
                      {"sentinel_s", short_number(record.sentinel_s)},
                      {"complete", record.complete}};
  if (record.contention) environment["contention"] = contention_json(*record.contention);
  if (record.repeatability) {
    environment["repeatability"] = {
        {"undisturbed_architectures", record.repeatability->architectures},
        {"median_relative_difference", short_number(record.repeatability->median_relative_difference)},
        {"within_10_percent", short_number(record.repeatability->within_10_percent)}};
  }
  for (const LeftOut& entry : record.left_out) {
    environment["left_out"].push_back({{"architecture", entry.architecture}, {"reason", entry.reason}});
  }
  return environment;
}

CollectRecord record_from_json(const json& environment, const std::string& file) {
  try {
    return read_record(environment);
  } catch (const json::exception& error) {
    throw InputError(file + ": its environment is not one that collect wrote (" + error.what() +
                     "), so its measurements cannot be continued; choose another folder or id");
  }
}

CollectRecord record_of(const DeviceRuntime& device) {
  return record_from_json(json::parse(device.environment), "device '" + device.id + "'");
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

void require_same_conditions(const Conditions& found, const Conditions& wanted, const std::string& file) {
  std::string different;
  const auto compare = [&](const char* what, const std::string& was, const std::string& is) {
    if (was != is) different += (different.empty() ? "" : "; ") + (what + (" '" + was) + "', asked for '" + is + "'");
  };
  compare("space", std::string(found.space->name()), std::string(wanted.space->name()));
  compare("device", found.device.device, wanted.device.device);
  compare("runtime", found.device.runtime, wanted.device.runtime);
  compare("batch", std::to_string(found.device.batch), std::to_string(wanted.device.batch));
  compare("threads", std::to_string(found.device.threads), std::to_string(wanted.device.threads));
  compare("input shape", json(found.device.input_shape).dump(), json(wanted.device.input_shape).dump());
  compare("classes", std::to_string(found.record.classes), std::to_string(wanted.record.classes));
  compare("CPU", found.record.cpu, wanted.record.cpu);
  compare("runtime version", found.record.runtime_version, wanted.record.runtime_version);
  compare("instruction set", found.record.instruction_set, wanted.record.instruction_set);
  compare("weight seed", std::to_string(found.record.weight_seed), std::to_string(wanted.record.weight_seed));
  compare("timing", json(found.record.timing).dump(), json(wanted.record.timing).dump());
  compare("sentinel", found.record.sentinel_architecture, wanted.record.sentinel_architecture);
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

MachineState machine_state(int cpu) {
  return {descriptor::load_average(), descriptor::cpu_frequency_mhz(cpu), descriptor::temperature_c()};
}

}  // namespace tenshot::datasets
