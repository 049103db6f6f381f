#include "datasets/collect/start_table.h"

#include <cmath>
#include <cstdint>

#include "datasets/tables/architecture_column.h"
#include "datasets/tables/csv.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"

namespace tenshot::datasets {

const std::vector<std::string>& StartTable::parts() const {
  static const std::vector<std::string> of_cold = {"load_ms", "prepare_ms", "first_ms", "warm_ms", "memory_mib"};
  static const std::vector<std::string> none;
  return quantity_ == Quantity::cold ? of_cold : none;
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
    for (const std::string& part : parts()) row.parts.push_back(number(part));
    if (row.value.median_ms > 0) add(*architecture, std::move(row));
  }
}

std::string StartTable::to_csv(const NetworkSpace& space) const {
  std::string text = "architecture," + column(quantity_) + "," + column("stddev", quantity_) + ",runs";
  for (const std::string& part : parts()) text += "," + part;
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

}  // namespace tenshot::datasets
