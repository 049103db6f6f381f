#include "datasets/tables/architecture_column.h"

#include <string>

#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"

namespace tenshot::datasets {

ArchitectureColumn::ArchitectureColumn(const CsvReader& csv, const nasbench::SearchSpace& space,
                                       std::string_view expected_columns)
    : csv_(csv), space_(space), column_(csv.require("architecture", expected_columns)) {}

std::optional<nasbench::Architecture> ArchitectureColumn::read(Findings& findings) {
  const std::size_t fields = csv_.fields().size();
  if (fields != csv_.header().size()) {
    findings.add({Problem::field_count, csv_.file(), csv_.line(), "",
                  std::to_string(fields) + (fields == 1 ? " field" : " fields") + " where the header has " +
                      std::to_string(csv_.header().size())});
    return std::nullopt;
  }
  const std::string_view text = trimmed(csv_.fields()[column_]);
  const auto leave_out = [&](Problem problem) {
    findings.add({problem, csv_.file(), csv_.line(), "architecture", std::string(text)});
    return std::nullopt;
  };
  if (text.empty()) return leave_out(Problem::missing);
  nasbench::Architecture architecture;
  try {
    architecture = space_.parse(text);
  } catch (const InputError&) {
    return leave_out(Problem::unknown_architecture);
  }
  if (!seen_.insert(architecture).second) return leave_out(Problem::duplicate);
  return architecture;
}

}  // namespace tenshot::datasets
