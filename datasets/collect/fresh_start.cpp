#include "datasets/collect/fresh_start.h"

#include <chrono>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "datasets/tables/architecture_column.h"
#include "datasets/tables/csv.h"
#include "descriptor/runtimes/opencv_dnn.h"
#include "descriptor/timing/contention.h"
#include "nasbench/support/elapsed.h"
#include "nasbench/support/files.h"
#include "nasbench/support/json_reader.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/temporaries.h"
#include "nasbench/support/words.h"

namespace tenshot::datasets {
namespace {

double milliseconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

constexpr std::pair<const char*, double FreshStart::*> times[] = {{"cold_ms", &FreshStart::cold_ms},
                                                                  {"load_ms", &FreshStart::load_ms},
                                                                  {"prepare_ms", &FreshStart::prepare_ms},
                                                                  {"first_ms", &FreshStart::first_ms},
                                                                  {"warm_ms", &FreshStart::warm_ms}};

std::string_view last_line(std::string_view text) {
  text = text.substr(0, text.find_last_not_of("\r\n") + 1);
  return text.substr(text.rfind('\n') + 1);
}

descriptor::Timing summary_of(const std::vector<FreshStart>& starts, double FreshStart::*part) {
  std::vector<double> values;
  for (const FreshStart& start : starts) values.push_back(start.*part);
  return descriptor::summarise(std::move(values));
}

/// Throws nlohmann::json::exception.
FreshStart start_from_json(const nlohmann::json& json) {
  FreshStart start;
  for (const auto& [key, time] : times) json.at(key).get_to(start.*time);
  json.at("pages").get_to(start.cached.pages);
  json.at("resident").get_to(start.cached.resident);
  json.at("contended").get_to(start.contended);
  if (json.contains("peak_memory_mib")) start.peak_memory_mib = json["peak_memory_mib"].get<double>();
  return start;
}

}  // namespace

bool reads_onnx(const descriptor::Runtime& runtime) { return runtime.name() == descriptor::opencv_runtime_name; }

FreshStart start_network(const descriptor::Runtime& runtime, const nasbench::Network& network,
                         descriptor::RuntimeOptions options, const std::filesystem::path& weights, int warm_runs) {
  FreshStart start;
  start.cached = descriptor::drop_from_page_cache(weights);
  descriptor::ContentionOptions watched;
  watched.software_counts = false;  // the runtime starts threads
  const descriptor::ContentionWatch watch(watched);

  const Clock::time_point begin = Clock::now();
  std::string onnx;
  if (reads_onnx(runtime)) {
    onnx = read_file(weights);
  } else {
    options.weights = descriptor::read_weights_file(weights, network);
  }
  const Clock::time_point loaded = Clock::now();
  const auto prepared =
      reads_onnx(runtime) ? descriptor::prepare_opencv_onnx(onnx, network, options) : runtime.prepare(network, options);
  options.weights.reset();
  const Clock::time_point ready = Clock::now();
  prepared->run();
  const Clock::time_point first = Clock::now();
  start.contended = descriptor::contended(watch.since());

  start.load_ms = milliseconds(begin, loaded);
  start.prepare_ms = milliseconds(loaded, ready);
  start.first_ms = milliseconds(ready, first);
  start.cold_ms = milliseconds(begin, first);
  std::vector<double> warm_ms;
  for (int run = 0; run < warm_runs; ++run) warm_ms.push_back(time_ms([&] { prepared->run(); }));
  if (!warm_ms.empty()) start.warm_ms = descriptor::summarise(std::move(warm_ms)).median_ms;
  start.peak_memory_mib = descriptor::peak_memory_mib();
  return start;
}

nlohmann::json to_json(const FreshStart& start) {
  nlohmann::json json = {
      {"pages", start.cached.pages}, {"resident", start.cached.resident}, {"contended", start.contended}};
  for (const auto& [key, time] : times) json[key] = start.*time;
  if (start.peak_memory_mib) json["peak_memory_mib"] = *start.peak_memory_mib;
  return json;
}

nasbench::Network empty_network(const nasbench::Network& like) {
  nasbench::Network empty;
  empty.inputs = like.inputs;
  empty.inputs.resize(1);
  empty.outputs = {nasbench::Source{-1, 0}};
  return empty;
}

FreshStart start_in_process(const descriptor::ChildProcess& child) {
  const PassingFile output(child.output);
  descriptor::run_child(child);
  const std::string text = read_file(child.output);
  const nlohmann::json said = nlohmann::json::parse(last_line(text), nullptr, false);
  try {
    return start_from_json(said);
  } catch (const nlohmann::json::exception&) {
    throw Error(child.command[0] + " did not say what the start took: '" + excerpt(text, 200) + "'");
  }
}

StartTable::StartTable(Quantity quantity) : quantity_(quantity) {
  if (quantity == Quantity::cold) parts_ = {"load_ms", "prepare_ms", "first_ms", "warm_ms", "memory_mib"};
}

void StartTable::add(const Architecture& architecture, StartRow row) {
  if (rows_.emplace(architecture, std::move(row)).second) order_.push_back(architecture);
}

void StartTable::read(const std::filesystem::path& file, const NetworkSpace& space) {
  const std::string text = read_file(file);
  CsvReader csv(text, file.string());
  const std::string value = column(quantity_), spread = column("stddev", quantity_);
  ArchitectureColumn architectures(csv, space, "architecture," + value);
  Findings ignored;
  const auto number = [&](const std::string& name) {
    return parse_number(csv.fields()[csv.require(name, "architecture," + value)]).value_or(std::nan(""));
  };
  while (csv.next()) {
    const auto architecture = architectures.read(ignored);
    if (!architecture) continue;
    StartRow row;
    row.value.median_ms = number(value);
    row.value.stddev_ms = number(spread);
    row.value.runs = static_cast<std::int64_t>(number("runs"));
    for (const std::string& part : parts_) row.parts.push_back(number(part));
    if (row.value.median_ms > 0) add(*architecture, std::move(row));
  }
}

std::string StartTable::to_csv(const NetworkSpace& space) const {
  std::string text = "architecture," + column(quantity_) + "," + column("stddev", quantity_) + ",runs";
  for (const std::string& part : parts_) text += "," + part;
  text += "\n";
  for (const Architecture& architecture : order_) {
    const StartRow& row = rows_.at(architecture);
    text += space.format(architecture) + "," + shortest(row.value.median_ms) + "," + shortest(row.value.stddev_ms) +
            "," + std::to_string(row.value.runs);
    for (const double part : row.parts) text += "," + (std::isnan(part) ? std::string() : shortest(part));
    text += "\n";
  }
  return text;
}

std::vector<Measurement> StartTable::measurements() const {
  std::vector<Measurement> rows;
  for (const Architecture& architecture : order_) {
    const descriptor::Timing& value = rows_.at(architecture).value;
    rows.push_back({architecture, value.median_ms, value.stddev_ms, value.runs});
  }
  return rows;
}

StartRow row_of(const std::vector<FreshStart>& starts, const std::vector<double>& memory_mib, Quantity quantity) {
  StartRow row;
  if (quantity != Quantity::cold) {
    if (memory_mib.empty()) throw Error("this system does not say how much memory a process took (VmHWM)");
    row.value = descriptor::summarise(memory_mib);
    return row;
  }
  row.value = summary_of(starts, &FreshStart::cold_ms);
  for (const auto part : {&FreshStart::load_ms, &FreshStart::prepare_ms, &FreshStart::first_ms, &FreshStart::warm_ms}) {
    row.parts.push_back(summary_of(starts, part).median_ms);
  }
  row.parts.push_back(memory_mib.empty() ? std::nan("") : descriptor::summarise(memory_mib).median_ms);
  return row;
}

StartJournal::StartJournal(std::filesystem::path file, const NetworkSpace& space)
    : file_(std::move(file)), space_(space) {
  if (!std::filesystem::exists(file_)) return;
  for (const std::string& line : parts_between(read_file(file_), "\n")) {
    try {
      const nlohmann::json entry = parse_json(line, file_.string());
      const Architecture architecture = space_.parse(entry.at("architecture").get<std::string>());
      starts_[architecture].add(start_from_json(entry.at("start")));
    } catch (const Error&) {  // half a line, of a process that was killed
    } catch (const nlohmann::json::exception&) {
    }
  }
}

StartSample StartJournal::of(const Architecture& architecture) const {
  const auto found = starts_.find(architecture);
  return found == starts_.end() ? StartSample() : found->second;
}

void StartJournal::add(const Architecture& architecture, const FreshStart& start) {
  starts_[architecture].add(start);
  // The line ends before it, too: half a line that stands at the end of the file must not spoil this one.
  const nlohmann::json entry = {{"architecture", space_.format(architecture)}, {"start", to_json(start)}};
  std::ofstream stream(file_, std::ios::app);
  stream << "\n" << entry.dump() << "\n";
  if (!stream.flush()) throw FileError(file_.string() + ": cannot be written");
}

void StartJournal::forget() {
  std::error_code ignored;
  std::filesystem::remove(file_, ignored);
  starts_.clear();
}

}  // namespace tenshot::datasets
