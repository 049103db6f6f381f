#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "datasets/kit/board_results.h"
#include "datasets/kit/profile_matching.h"
#include "datasets/tables/csv.h"
#include "nasbench/support/error.h"
#include "nasbench/support/json_reader.h"
#include "nasbench/support/median.h"
#include "nasbench/support/number_text.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot::datasets {
namespace {

using nlohmann::json;

double checked_ms(double ms, const std::string& place) {
  if (std::isfinite(ms) && ms >= 0) return ms;
  throw FormatError(place + " took " + shortest(ms) + " ms; expected a number that is not negative");
}

std::string text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// The time under a key, in a unit of `unit_ms` ms; benchmark_app in Python writes it as text.
double ms_of(const json& object, const char* key, const std::string& place, double unit_ms = 1) {
  const auto found = object.find(key);
  std::optional<double> number = parse_number(text_of(object, key));
  if (found != object.end() && found->is_number()) number = found->get<double>();
  if (!number) throw FormatError(place + " has no number " + key);
  return checked_ms(*number * unit_ms, place);
}

std::vector<LayerTime> of_trtexec(const json& list, const std::string& file) {
  std::vector<LayerTime> layers;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_object() || !list[i].contains("name")) continue;  // the first says how many runs there were
    const char* key = list[i].contains("medianMs") ? "medianMs" : "averageMs";
    layers.push_back({text_of(list[i], "name"), "", ms_of(list[i], key, file + ": layer " + std::to_string(i))});
  }
  return layers;
}

/// Layers in the order in which they come first, each with the median over its runs.
class Runs {
 public:
  /// `key` tells layers apart.
  void add(const std::string& key, const std::string& name, const std::string& kind, double ms) {
    const auto [place, first] = place_of_.emplace(key, runs_.size());
    if (first) runs_.push_back({{name, kind, 0}, {}});
    runs_[place->second].second.push_back(ms);
  }

  std::vector<LayerTime> layers(bool first_warms_up) {
    std::vector<LayerTime> layers;
    for (auto& [layer, times] : runs_) {
      if (first_warms_up && times.size() > 1) times.erase(times.begin());
      layers.push_back({std::move(layer.name), std::move(layer.kind), median(times)});
    }
    return layers;
  }

 private:
  std::vector<std::pair<LayerTime, std::vector<double>>> runs_;
  std::map<std::string, std::size_t> place_of_;
};

constexpr std::string_view kernel_suffix = "_kernel_time";

std::vector<LayerTime> of_onnxruntime(const json& events, const std::string& file) {
  Runs runs;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const json& event = events[i];
    if (!event.is_object() || text_of(event, "cat") != "Node") continue;
    std::string name = text_of(event, "name");
    if (!ends_with(name, kernel_suffix)) continue;  // fences
    name.resize(name.size() - kernel_suffix.size());
    const json described = event.value("args", json::object());
    constexpr double ms_per_us = 1e-3;
    runs.add(name + "\n" + text_of(described, "node_index") + text_of(described, "graph_index"), name,
             text_of(described, "op_name"), ms_of(event, "dur", file + ": event " + std::to_string(i + 1), ms_per_us));
  }
  return runs.layers(true);
}

std::size_t column_of(const std::vector<std::string>& header, std::string_view name) {
  return static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin());
}

double number_in(const std::vector<std::string>& fields, std::size_t column, const std::string& place) {
  const std::optional<double> number = column < fields.size() ? parse_number(fields[column]) : std::nullopt;
  if (!number) throw FormatError(place + " has no number in column " + std::to_string(column + 1));
  return checked_ms(*number, place);
}

constexpr std::string_view delegate_prefix = "Delegate/", executed = "Number of nodes executed: ";

/// What a delegate such as XNNPACK executed stands beside the row of the delegate as a whole, which is then their sum.
/// Where it shows nothing, its row is called as its last operator, and is none.
void leave_out_delegates(std::vector<LayerTime>& layers) {
  const auto inside = [](const LayerTime& layer) { return begins_with(layer.name, delegate_prefix); };
  const auto whole = [&](const LayerTime& layer) {
    return !inside(layer) && layer.kind.find("Delegate") != std::string::npos;
  };
  if (std::any_of(layers.begin(), layers.end(), inside))
    layers.erase(std::remove_if(layers.begin(), layers.end(), whole), layers.end());
  for (LayerTime& layer : layers) {
    if (whole(layer)) layer.name = layer.kind;
    if (inside(layer))
      layer.kind = layer.name.substr(delegate_prefix.size(), layer.name.rfind(':') - delegate_prefix.size());
  }
}

/// Tables "Run Order": of preparing the model, then of the runs, and of what delegates executed inside. Those of
/// subgraphs are parts of a row of the first. Other lines may stand between rows; how many there are is said below.
std::vector<LayerTime> of_benchmark_model(std::string_view text, const std::string& file) {
  std::vector<LayerTime> layers;
  std::size_t number = 0, average = 0, calls = 0, name = 0, before = 0;
  bool inside = false, subgraph = false, delegate = false, is_csv = false;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    const std::string row(trimmed(line));
    if (begins_with(row, "Subgraph (index")) subgraph = true;
    if (begins_with(row, "Delegate internal")) delegate = true;
    if (row.find(" Run Order ") != std::string::npos) {
      inside = delegate || !subgraph;
      if (inside && !delegate) layers.clear();
      before = layers.size();
      average = 0;
      continue;
    }
    if (average > 0 && begins_with(row, executed)) {
      const std::size_t rows = layers.size() - before;
      if (row != std::string(executed) + std::to_string(rows))
        throw FormatError(file + ": has " + std::to_string(rows) + " rows, and says '" + excerpt(row) + "'; it is cut");
    }
    inside = inside && !begins_with(row, "===") && !begins_with(row, "Timings (") && !begins_with(row, executed);
    if (!inside) continue;
    const bool begins_csv = begins_with(row, "node type,");  // --profiling_output_csv_file
    is_csv = is_csv || begins_csv;
    std::vector<std::string> fields = fields_of(row, is_csv ? ',' : '\t');
    if (begins_csv || begins_with(row, "[node type]")) {
      average = column_of(fields, is_csv ? "avg_ms" : "[avg ms]");
      calls = column_of(fields, is_csv ? "times called" : "[times called]");
      name = column_of(fields, is_csv ? "name" : "[Name]");
      continue;
    }
    for (; is_csv && fields.size() > name + 1; fields.erase(fields.begin() + name + 1)) {
      fields[name] += ", " + fields[name + 1];
    }
    if (average == 0 || fields.size() <= std::max(name, average)) continue;
    const std::string place = file + ": line " + std::to_string(number);
    const double times = calls < fields.size() ? number_in(fields, calls, place) : 1;  // earlier ones say 0
    layers.push_back({fields[name], fields.front(), std::max(times, 1.0) * number_in(fields, average, place)});
  }
  if (inside) throw FormatError(file + ": its table of layers does not end; it is cut");
  leave_out_delegates(layers);
  return layers;
}

/// What benchmark_app says of a layer that was not optimised away, and was run.
bool is_executed(const std::string& status) {
  return status.find("EXECUTED") != std::string::npos && status.find("NOT_EXECUTED") == std::string::npos;
}

/// Throws FormatError where a report's total is not what its layers add up to, but for rounding.
void require_total(double total_ms, double sum_ms, const std::string& place) {
  if (std::abs(total_ms - sum_ms) <= 0.01 * std::max(total_ms, 0.1)) return;
  throw FormatError(place + " says a total of " + shortest(total_ms) + " ms, and its layers add up to " +
                    significant_digits(sum_ms, 6) + "; it is cut, or has rows of another run");
}

std::vector<LayerTime> of_openvino(std::string_view text, const std::string& file) {
  Runs runs;
  std::vector<std::string> header;
  std::size_t number = 0;
  double sum_ms = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    std::vector<std::string> fields = fields_of(line, ';');
    if (!fields.empty() && fields.front() == "layerName") {
      header = fields;
      sum_ms = 0;
      continue;
    }
    while (!header.empty() && fields.size() > header.size()) {  // names of TensorFlow Lite have semicolons too
      fields[1] = fields[0] + ";" + fields[1];
      fields.erase(fields.begin());
    }
    const std::size_t status = column_of(header, "execStatus"), kind = column_of(header, "layerType");
    if (header.empty() || fields.size() <= std::max(status, kind) || fields.front().empty()) continue;
    const bool is_total = fields[status].empty();
    if (is_total && fields.front() != "Total") continue;
    const std::string place = file + ": line " + std::to_string(number);
    const double ms = number_in(fields, column_of(header, "realTime (ms)"), place);
    if (is_total) require_total(ms, sum_ms, place);
    sum_ms += ms;
    if (is_executed(fields[status])) runs.add(fields.front(), fields.front(), fields[kind], ms);
  }
  return runs.layers(false);
}

/// benchmark_app -json_stats: a list of requests with their nodes, or the mean over them.
std::vector<LayerTime> of_openvino_json(const json& report, const std::string& file) {
  std::vector<json> all;
  const auto detailed = report.find("detailed_performance"), mean = report.find("avg_performance");
  if (detailed != report.end()) all.assign(detailed->begin(), detailed->end());
  if (mean != report.end()) all.push_back(*mean);
  Runs runs;
  for (std::size_t r = 0; r < all.size(); ++r) {
    const std::string request = "request " + std::to_string(r + 1), place = file + ": " + request;
    if (!all[r].is_object() || !all[r].contains("nodes")) throw FormatError(place + " has no nodes");
    double sum_ms = 0;
    for (const json& node : all[r]["nodes"]) {
      if (!node.is_object()) throw FormatError(file + ": a node of " + request + " is no object");
      const double ms = ms_of(node, "real_time", place);
      sum_ms += ms;
      const std::string name = text_of(node, "name");
      if (is_executed(text_of(node, "status"))) runs.add(name, name, text_of(node, "node_type"), ms);
    }
    if (all[r].contains("total_real_time")) require_total(ms_of(all[r], "total_real_time", place), sum_ms, place);
  }
  return runs.layers(false);
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
  if (layers.empty()) throw FormatError(file + ": names no layer that was executed, or is not what the tool prints");
  return layers;
}

}  // namespace tenshot::datasets
