#include "trainer/core/prediction_table.h"

#include <cmath>

#include "datasets/tables/architecture_column.h"
#include "datasets/tables/csv.h"
#include "datasets/tables/measurements.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/number_text.h"
#include "nasbench/support/numbers.h"

namespace tenshot::trainer {

std::string why_unusable(const Predictions& predictions, std::size_t index, const Architecture& architecture,
                         const NetworkSpace& space, datasets::Quantity quantity) {
  const double latency_ms = predictions.latency_ms[index];
  const std::string of_unit = " " + std::string(unit(quantity)), name = space.format(architecture);
  const auto is_one = [](double value) { return value > 0 && std::isfinite(value); };
  if (!is_one(latency_ms)) {
    return "the predictor says " + shortest(latency_ms) + of_unit + " of " + name + ", expected a finite " +
           std::string(title(quantity)) + " above 0: its numbers make no sense together; adapt anew";
  }
  if (predictions.lower_ms.empty()) return "";
  const double lower = predictions.lower_ms[index], upper = predictions.upper_ms[index];
  if (is_one(lower) && is_one(upper) && upper < widest_interval * lower) return "";
  return name + " is too unlike all that was measured to be predicted: " + significant_digits(latency_ms, 3) + of_unit +
         " would have bounds of " + significant_digits(lower, 3) + " and " + significant_digits(upper, 3) +
         "; measure it, or networks like it";
}

std::vector<std::string> take_out_unusable(Predictions& predictions, std::vector<Architecture>& architectures,
                                           const NetworkSpace& space, datasets::Quantity quantity) {
  std::vector<std::string> reasons;
  std::vector<Architecture> usable;
  Predictions kept;
  for (std::size_t i = 0; i < architectures.size(); ++i) {
    std::string reason = why_unusable(predictions, i, architectures[i], space, quantity);
    if (reason.empty()) {
      usable.push_back(std::move(architectures[i]));
      kept.add(predictions, i);
    } else {
      reasons.push_back(std::move(reason));
    }
  }
  architectures = std::move(usable);
  predictions = std::move(kept);
  return reasons;
}

void require_usable(const Predictions& predictions, const std::vector<Architecture>& architectures,
                    const NetworkSpace& space, datasets::Quantity quantity) {
  for (std::size_t i = 0; i < predictions.latency_ms.size(); ++i) {
    const std::string reason = why_unusable(predictions, i, architectures[i], space, quantity);
    if (!reason.empty()) throw InputError(reason);
  }
}

void write_predictions(const std::filesystem::path& path, const std::vector<Architecture>& architectures,
                       const Predictions& predictions, const NetworkSpace& space, datasets::Quantity quantity) {
  require_usable(predictions, architectures, space, quantity);
  std::string text = "architecture," + column(quantity);
  if (!predictions.lower_ms.empty()) text += "," + column("lower", quantity) + "," + column("upper", quantity);
  text += "\n";
  for (std::size_t i = 0; i < architectures.size(); ++i) {
    space.append_format(text, architectures[i]);
    for (const auto* numbers : {&predictions.latency_ms, &predictions.lower_ms, &predictions.upper_ms}) {
      if (numbers->empty()) continue;
      text += ',';
      append_shortest(text, (*numbers)[i]);
    }
    text += '\n';
  }
  write_file_atomically(path, text);
}

PredictionTable read_predictions(const std::filesystem::path& path, const NetworkSpace& space,
                                 datasets::Quantity quantity) {
  const std::string lower = column("lower", quantity), upper = column("upper", quantity);
  const std::string expected = "architecture," + column(quantity) + "[," + lower + "," + upper + "]";
  const std::string text = read_file(path);
  datasets::CsvReader csv(text, datasets::name_in_messages(path));
  datasets::require_no_swap(csv, {column("stddev", quantity), "runs"}, "predictions, but measurements");
  datasets::ArchitectureColumn architectures(csv, space, expected);
  const std::size_t latency_column = csv.require(column(quantity), expected);
  const auto lower_column = csv.find(lower), upper_column = csv.find(upper);
  const bool intervals = lower_column && upper_column;
  PredictionTable table;
  const auto number = [&](std::size_t column) {
    const datasets::LatencyEntry entry = datasets::parse_latency(csv.fields()[column]);
    if (!entry.problem) return entry.latency_ms;
    table.findings.add({*entry.problem, csv.file(), csv.line(), csv.header()[column],
                        std::string(csv.fields()[column].substr(0, 60))});
    return std::nan("");
  };
  while (csv.next()) {
    const std::optional<Architecture> architecture = architectures.read(table.findings);
    if (!architecture) continue;
    const double latency_ms = number(latency_column);
    const double lower_ms = intervals ? number(*lower_column) : 0, upper_ms = intervals ? number(*upper_column) : 0;
    if (std::isnan(latency_ms) || std::isnan(lower_ms) || std::isnan(upper_ms)) continue;
    table.architectures.push_back(*architecture);
    table.predictions.latency_ms.push_back(latency_ms);
    if (!intervals) continue;
    table.predictions.lower_ms.push_back(lower_ms);
    table.predictions.upper_ms.push_back(upper_ms);
  }
  return table;
}

void write_plan(const std::filesystem::path& path, const std::vector<Architecture>& architectures,
                const NetworkSpace& space) {
  std::string text = "rank,architecture\n";
  for (std::size_t i = 0; i < architectures.size(); ++i) {
    text += std::to_string(i + 1) + ',' + space.format(architectures[i]) + '\n';
  }
  write_file_atomically(path, text);
}

}  // namespace tenshot::trainer
