#include "datasets/kit/kit_times.h"

#include <cmath>
#include <sstream>

#include "datasets/tables/findings.h"
#include "nasbench/support/error.h"
#include "nasbench/support/json_reader.h"
#include "nasbench/support/numbers.h"

namespace tenshot::datasets {
namespace {

using nlohmann::json;

std::vector<double> checked(std::vector<double> times, const std::string& file) {
  if (times.empty()) throw FormatError(file + ": holds no time");
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (!std::isfinite(times[i]) || times[i] <= 0) {
      throw FormatError(file + ": run " + std::to_string(i + 1) + " took " + shortest(times[i]) +
                        " ms; expected a positive number");
    }
  }
  return times;
}

double number_of(const json& value, const std::string& place, const std::string& file) {
  if (!value.is_number()) throw FormatError(file + ": " + place + " is no number");
  return value.get<double>();
}

}  // namespace

std::vector<double> times_from_json(std::string_view text, const std::string& file, double warmup_ms) {
  const json object = parse_json(text, file);
  std::vector<double> times;
  if (object.is_object()) {
    const JsonReader reader(object, file, "");
    reader.require_format("tenshot.times/1", "list of run times");
    for (const json& time : reader.array("times_ms")) times.push_back(number_of(time, "an entry of times_ms", file));
    return checked(std::move(times), file);
  }
  if (!object.is_array()) throw FormatError(file + ": expected trtexec's list of runs, or a kit's times");
  for (std::size_t i = 0; i < object.size(); ++i) {
    const std::string place = "run " + std::to_string(i + 1);
    const JsonReader run(object[i], file, place);
    const json* start = run.find("startComputeMs");
    if (start != nullptr && number_of(*start, "the start of " + place, file) < warmup_ms) continue;
    const json* time = run.find("computeMs");
    if (time == nullptr) time = &run.require("latencyMs", "a number of ms");
    times.push_back(number_of(*time, "the time of " + place, file));
  }
  return checked(std::move(times), file);
}

std::vector<double> times_from_lines(std::string_view text, const std::string& file) {
  std::vector<double> times;
  std::istringstream lines{std::string(text)};
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (trimmed(line).empty()) continue;
    const std::optional<double> time = parse_number(line);
    if (!time) throw FormatError(file + ":" + std::to_string(number) + ": '" + excerpt(line) + "' is no number of ms");
    times.push_back(*time);
  }
  return checked(std::move(times), file);
}

std::vector<double> times_from_perf_test(std::string_view text, const std::string& file) {
  constexpr int fields_after_time = 3;  // counted from the right: the model's name may hold commas
  constexpr double ms_per_s = 1000;
  std::vector<double> times;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::size_t end = line.size();
    int fields = 0;
    for (; fields < fields_after_time && end != std::string::npos && end != 0; ++fields) end = line.rfind(',', end - 1);
    if (fields < fields_after_time || end == std::string::npos || end == 0) continue;
    const std::size_t begin = line.rfind(',', end - 1);
    if (begin == std::string::npos) continue;
    const std::optional<double> seconds = parse_number(std::string_view(line).substr(begin + 1, end - begin - 1));
    if (seconds) times.push_back(*seconds * ms_per_s);
  }
  return checked(std::move(times), file);
}

}  // namespace tenshot::datasets
