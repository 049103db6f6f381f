#include "datasets/kit/profile_formats.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "datasets/tables/json_reader.h"
#include "nasbench/support/error.h"
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

/// Header and rows of one table, which ends at an empty line or another title.
std::vector<LayerTime> of_benchmark_model(std::string_view text, const std::string& file) {
  std::vector<LayerTime> layers;
  std::istringstream lines{std::string(text)};
  std::size_t number = 0, average = 0, name = 0;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find(" Run Order ") != std::string::npos) {
      layers.clear();  // of the second table where there are two: the first is of preparing the model
      inside = true;
      average = 0;
      continue;
    }
    if (!inside) continue;
    const std::vector<std::string> fields = split(line, '\t');
    if (line.find("[node type]") != std::string::npos) {
      average = column_of(fields, "[avg ms]");
      name = column_of(fields, "[Name]");
      continue;
    }
    if (trimmed(line).empty() || fields.size() <= name || average == 0) {
      inside = inside && average == 0;
      continue;
    }
    const std::size_t kind = fields.front().empty() ? 1 : 0;  // lines begin with a tab
    layers.push_back({fields[name], fields[kind], number_in(fields, average, "line " + std::to_string(number), file)});
  }
  return layers;
}

std::vector<LayerTime> of_openvino(std::string_view text, const std::string& file) {
  std::vector<LayerTime> layers;
  std::map<std::string, std::vector<double>> requests;
  std::vector<std::string> header;
  std::istringstream lines{std::string(text)};
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::vector<std::string> fields = split(line, ';');
    if (!fields.empty() && fields.front() == "layerName") {
      header = fields;
      continue;
    }
    if (header.empty() || fields.size() < 3 || fields.front() == "Total" || fields.front().empty()) continue;
    const std::size_t status = column_of(header, "execStatus"), kind = column_of(header, "layerType"),
                      time = column_of(header, "realTime (ms)");
    if (status >= fields.size() || fields[status].find("EXECUTED") == std::string::npos ||
        fields[status].find("NOT_EXECUTED") != std::string::npos) {
      continue;  // optimised away, or not run
    }
    std::vector<double>& times = requests[fields.front()];
    if (times.empty()) layers.push_back({fields.front(), kind < fields.size() ? fields[kind] : "", 0});
    times.push_back(number_in(fields, time, "line " + std::to_string(number), file));
  }
  for (LayerTime& layer : layers) layer.ms = median(requests.at(layer.name));
  return layers;
}

std::vector<LayerTime> of_json(std::string_view text, const std::string& file) {
  const json list = parse_json(text, file);
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
