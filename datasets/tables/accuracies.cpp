#include "datasets/tables/accuracies.h"

#include <cmath>
#include <optional>

#include "datasets/tables/architecture_column.h"
#include "datasets/tables/csv.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"

namespace tenshot::datasets {

Accuracies read_accuracies(const std::filesystem::path& file, const nasbench::NetworkSpace& space) {
  const std::string text = read_file(file), expected = "architecture,accuracy";
  CsvReader csv(text, file.string());
  ArchitectureColumn architectures(csv, space, expected);
  const std::size_t column = csv.require("accuracy", expected);
  Accuracies read;
  Findings findings;
  while (csv.next()) {
    const std::optional<nasbench::Architecture> architecture = architectures.read(findings);
    if (!architecture) continue;
    const std::optional<double> accuracy = parse_number(csv.fields()[column]);
    if (!accuracy || !std::isfinite(*accuracy)) {
      findings.add({Problem::not_a_number, csv.file(), csv.line(), "accuracy", std::string(csv.fields()[column])});
      continue;
    }
    read.architectures.push_back(*architecture);
    read.accuracy.push_back(*accuracy);
  }
  if (read.architectures.empty()) throw_nothing_usable(file.string(), "accuracy", findings, space);
  if (!findings.empty()) read.left_out = file.filename().string() + ": left out: " + findings.summary();
  return read;
}

}  // namespace tenshot::datasets
