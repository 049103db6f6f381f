#include "datasets/collect/fresh_start.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "descriptor/machine/child_process.h"
#include "descriptor/machine/process_memory.h"
#include "descriptor/runtimes/opencv_dnn.h"
#include "descriptor/timing/contention.h"
#include "descriptor/timing/timing.h"
#include "nasbench/support/elapsed.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/passing_file.h"
#include "nasbench/support/text.h"

namespace tenshot::datasets {
namespace {

double milliseconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

/// The last line that says something.
std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  const std::size_t end = text.rfind('\n');
  return end == std::string::npos ? text : text.substr(end + 1);
}

}  // namespace

bool reads_onnx(const descriptor::Runtime& runtime) { return runtime.name() == descriptor::opencv_runtime_name; }

FreshStart start_network(const descriptor::Runtime& runtime, const nasbench::Network& network,
                         const StartRequest& request) {
  FreshStart start;
  start.cached = descriptor::drop_from_page_cache(request.weights);
  descriptor::ContentionOptions watched;
  watched.software_counts = false;  // the runtime starts threads
  const descriptor::ContentionWatch watch(watched);

  descriptor::RuntimeOptions options = request.options;
  const Clock::time_point begin = Clock::now();
  std::string onnx;
  if (reads_onnx(runtime)) {
    onnx = read_file(request.weights);
  } else {
    options.weights = descriptor::read_weights_file(request.weights, network);
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
  for (int run = 0; run < request.warm_runs; ++run) {
    const Clock::time_point from = Clock::now();
    prepared->run();
    warm_ms.push_back(milliseconds(from, Clock::now()));
  }
  if (!warm_ms.empty()) start.warm_ms = descriptor::summarise(std::move(warm_ms)).median_ms;
  start.peak_memory_mib = descriptor::peak_memory_mib();
  return start;
}

nlohmann::json to_json(const FreshStart& start) {
  nlohmann::json json = {{"cold_ms", start.cold_ms},          {"load_ms", start.load_ms},
                         {"prepare_ms", start.prepare_ms},    {"first_ms", start.first_ms},
                         {"warm_ms", start.warm_ms},          {"pages", start.cached.pages},
                         {"resident", start.cached.resident}, {"contended", start.contended}};
  if (start.peak_memory_mib) json["peak_memory_mib"] = *start.peak_memory_mib;
  return json;
}

FreshStart start_from_json(const nlohmann::json& json) {
  FreshStart start;
  json.at("cold_ms").get_to(start.cold_ms);
  json.at("load_ms").get_to(start.load_ms);
  json.at("prepare_ms").get_to(start.prepare_ms);
  json.at("first_ms").get_to(start.first_ms);
  json.at("warm_ms").get_to(start.warm_ms);
  json.at("pages").get_to(start.cached.pages);
  json.at("resident").get_to(start.cached.resident);
  json.at("contended").get_to(start.contended);
  if (json.contains("peak_memory_mib")) start.peak_memory_mib = json["peak_memory_mib"].get<double>();
  return start;
}

nasbench::Network empty_network(const nasbench::Network& like) {
  nasbench::Network empty;
  empty.inputs = like.inputs;
  empty.inputs.resize(1);
  empty.outputs = {nasbench::Source{-1, 0}};
  return empty;
}

FreshStart start_in_process(const StartProcess& process) {
  descriptor::ChildProcess child;
  child.command = process.command;
  child.command.insert(child.command.end(), {"--weights", process.weights.string()});
  if (process.empty) child.command.emplace_back("--empty");
  child.command.push_back(process.network);
  child.output = process.output;
  child.time_limit_s = process.time_limit_s;
  child.go_on = process.go_on;
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

}  // namespace tenshot::datasets
