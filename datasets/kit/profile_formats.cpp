#include "datasets/kit/profile_formats.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "nasbench/support/error.h"
#include "nasbench/support/json_reader.h"
#include "nasbench/support/median.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot::datasets {
namespace {

using nlohmann::json;

double checked_ms(double ms, const std::string& place, const std::string& file) {
  if (std::isfinite(ms) && ms >= 0) return ms;
  throw FormatError(file + ": " + place + " took " + shortest(ms) + " ms; expected a number that is not negative");
}

double number_of(const json& object, const char* key, const std::string& place, const std::string& file) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) {
    throw FormatError(file + ": " + place + " has no number " + key);
  }
  return found->get<double>();
}

std::string text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::vector<LayerTime> of_trtexec(const json& list, const std::string& file) {
  std::vector<LayerTime> layers;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_object() || !list[i].contains("name")) continue;  // the first says how many runs there were
    const std::string place = "layer " + std::to_string(i);
    const double ms = number_of(list[i], list[i].contains("medianMs") ? "medianMs" : "averageMs", place, file);
    layers.push_back({text_of(list[i], "name"), "", checked_ms(ms, place, file)});
  }
  return layers;
}

constexpr std::string_view kernel_suffix = "_kernel_time";

std::vector<LayerTime> of_onnxruntime(const json& events, const std::string& file) {
  std::vector<LayerTime> layers;
  std::vector<std::vector<double>> runs;
  std::map<std::string, std::size_t> place_of;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const json& event = events[i];
    if (!event.is_object() || text_of(event, "cat") != "Node") continue;
    std::string name = text_of(event, "name");
    if (name.size() <= kernel_suffix.size() ||
        name.compare(name.size() - kernel_suffix.size(), kernel_suffix.size(), kernel_suffix) != 0) {
      continue;  // fences
    }
    name.resize(name.size() - kernel_suffix.size());
    const auto args = event.find("args");
    const bool described = args != event.end() && args->is_object();
    const std::string index = described ? text_of(*args, "node_index") : "";
    const auto [found, first] = place_of.emplace(name + "\n" + index, layers.size());
    if (first) {
      layers.push_back({name, described ? text_of(*args, "op_name") : "", 0});
      runs.emplace_back();
    }
    constexpr double ms_per_us = 1e-3;
    const std::string place = "event " + std::to_string(i + 1);
    runs[found->second].push_back(checked_ms(ms_per_us * number_of(event, "dur", place, file), place, file));
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (runs[i].size() > 1) runs[i].erase(runs[i].begin());  // the first run warms up
    layers[i].ms = median(runs[i]);
  }
  return layers;
}

std::vector<std::string> split(const std::string& line, char separator) {
  std::vector<std::string> fields;
  std::istringstream parts(line);
  for (std::string field; std::getline(parts, field, separator);) fields.emplace_back(trimmed(field));
  return fields;
}

std::size_t column_of(const std::vector<std::string>& header, std::string_view name) {
  return static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin());
}

double number_in(const std::vector<std::string>& fields, std::size_t column, const std::string& place,
                 const std::string& file) {
  const std::optional<double> number = column < fields.size() ? parse_number(fields[column]) : std::nullopt;
  if (!number) throw FormatError(file + ": " + place + " has no number in column " + std::to_string(column + 1));
  return checked_ms(*number, place, file);
}

constexpr std::string_view delegate_prefix = "Delegate/";

bool begins_with(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

/// What a delegate such as XNNPACK executed stands beside the row of the delegate as a whole, which is then their sum.
void leave_out_delegates(std::vector<LayerTime>& layers) {
  const auto inside = [](const LayerTime& layer) { return begins_with(layer.name, delegate_prefix); };
  if (std::none_of(layers.begin(), layers.end(), inside)) return;
  const auto whole = [&](const LayerTime& layer) {
    return !inside(layer) && layer.kind.find("Delegate") != std::string::npos;
  };
  layers.erase(std::remove_if(layers.begin(), layers.end(), whole), layers.end());
  for (LayerTime& layer : layers) {
    if (inside(layer))
      layer.kind = layer.name.substr(delegate_prefix.size(), layer.name.rfind(':') - delegate_prefix.size());
  }
}

/// Tables "Run Order": of preparing the model, then of the runs, and of what delegates executed inside. Those of
/// subgraphs are parts of a row of the first.
std::vector<LayerTime> of_benchmark_model(std::string_view text, const std::string& file) {
  std::vector<LayerTime> layers;
  std::istringstream lines{std::string(text)};
  std::size_t number = 0, average = 0, calls = 0, name = 0;
  bool inside = false, subgraph = false, delegate = false;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::string row(trimmed(line));
    if (begins_with(row, "Subgraph (index")) subgraph = true;
    if (begins_with(row, "Delegate internal")) delegate = true;
    if (row.find(" Run Order ") != std::string::npos) {
      inside = delegate || !subgraph;
      if (inside && !delegate) layers.clear();
      average = 0;
      continue;
    }
    if (!inside) continue;
    const std::vector<std::string> fields = split(row, '\t');
    if (begins_with(row, "[node type]")) {
      average = column_of(fields, "[avg ms]");
      calls = column_of(fields, "[times called]");
      name = column_of(fields, "[Name]");
      continue;
    }
    if (row.empty() || fields.size() <= name || average == 0) {
      inside = inside && average == 0;
      continue;
    }
    const std::string place = "line " + std::to_string(number);
    const double times = calls < fields.size() ? number_in(fields, calls, place, file) : 1;  // earlier ones say 0
    layers.push_back({fields[name], fields.front(), std::max(times, 1.0) * number_in(fields, average, place, file)});
  }
  leave_out_delegates(layers);
  return layers;
}

/// What benchmark_app says of each request, joined to the median.
class Requests {
 public:
  void add(const std::string& name, const std::string& status, const std::string& kind, double ms) {
    if (status.find("EXECUTED") == std::string::npos || status.find("NOT_EXECUTED") != std::string::npos) {
      return;  // optimised away, or not run
    }
    std::vector<double>& times = times_[name];
    if (times.empty()) layers_.push_back({name, kind, 0});
    times.push_back(ms);
  }
  std::vector<LayerTime> layers() {
    for (LayerTime& layer : layers_) layer.ms = median(times_.at(layer.name));
    return std::move(layers_);
  }

 private:
  std::vector<LayerTime> layers_;
  std::map<std::string, std::vector<double>> times_;
};

std::vector<LayerTime> of_openvino(std::string_view text, const std::string& file) {
  Requests requests;
  std::vector<std::string> header;
  std::istringstream lines{std::string(text)};
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::vector<std::string> fields = split(line, ';');
    if (!fields.empty() && fields.front() == "layerName") {
      header = fields;
      continue;
    }
    while (!header.empty() && fields.size() > header.size()) {  // names of TensorFlow Lite have semicolons too
      fields[1] = fields[0] + ";" + fields[1];
      fields.erase(fields.begin());
    }
    const std::size_t status = column_of(header, "execStatus"), kind = column_of(header, "layerType");
    if (header.empty() || fields.size() <= std::max(status, kind) || fields.front() == "Total") continue;
    const std::string place = "line " + std::to_string(number);
    if (fields.front().empty() || fields[status].empty()) continue;
    requests.add(fields.front(), fields[status], fields[kind],
                 number_in(fields, column_of(header, "realTime (ms)"), place, file));
  }
  return requests.layers();
}

/// benchmark_app -json_stats: a list of requests with their nodes, or the mean over them. The tool in Python writes
/// numbers as text.
std::vector<LayerTime> of_openvino_json(const json& report, const std::string& file) {
  std::vector<json> all;
  const auto detailed = report.find("detailed_performance"), mean = report.find("avg_performance");
  if (detailed != report.end()) all.assign(detailed->begin(), detailed->end());
  if (mean != report.end()) all.push_back(*mean);
  Requests requests;
  for (std::size_t r = 0; r < all.size(); ++r) {
    const std::string place = "request " + std::to_string(r + 1);
    if (!all[r].is_object() || !all[r].contains("nodes")) throw FormatError(file + ": " + place + " has no nodes");
    for (const json& node : all[r]["nodes"]) {
      if (!node.is_object()) throw FormatError(file + ": a node of " + place + " is no object");
      const std::string time = text_of(node, "real_time");
      const double ms = time.empty() ? checked_ms(number_of(node, "real_time", place, file), place, file)
                                     : number_in({time}, 0, place, file);
      requests.add(text_of(node, "name"), text_of(node, "status"), text_of(node, "node_type"), ms);
    }
  }
  return requests.layers();
}

std::vector<LayerTime> of_json(std::string_view text, const std::string& file) {
  const json list = parse_json(text, file);
  if (list.is_object() && (list.contains("detailed_performance") || list.contains("avg_performance"))) {
    return of_openvino_json(list, file);
  }
  if (!list.is_array()) throw FormatError(file + ": is no list of layers or events");
  const bool of_events = std::any_of(list.begin(), list.end(),
                                     [](const json& entry) { return entry.is_object() && entry.contains("cat"); });
  return of_events ? of_onnxruntime(list, file) : of_trtexec(list, file);
}

}  // namespace

std::vector<LayerTime> layer_times(std::string_view text, const std::string& file) {
  const std::string_view body = trimmed(text);
  std::vector<LayerTime> layers;
  if (!body.empty() && (body.front() == '[' || body.front() == '{')) {
    // benchmark_model's log may begin with a bracket too
    layers = body.find(" Run Order ") == std::string_view::npos ? of_json(body, file) : of_benchmark_model(body, file);
  } else if (body.find("layerName;") != std::string_view::npos) {
    layers = of_openvino(body, file);
  } else if (body.find(" Run Order ") != std::string_view::npos) {
    layers = of_benchmark_model(body, file);
  } else {
    throw FormatError(file + ": is no profile of trtexec, ONNX Runtime, benchmark_model or benchmark_app");
  }
  if (layers.empty()) throw FormatError(file + ": names no layer that was executed");
  return layers;
}

}  // namespace tenshot::datasets
