#include "datasets/tables/operator_latencies.h"

#include <cmath>

#include "datasets/tables/csv.h"
#include "datasets/tables/network_sources.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot::datasets {

std::map<std::string, std::vector<OperatorLatency>> parse_operator_latencies(std::string_view text,
                                                                             const std::string& file,
                                                                             const ColumnOfDevice& columns) {
  std::map<std::string, std::vector<nasbench::OperatorSpecification>> operators;
  for (nasbench::NamedNetwork& network : parse_operator_table(text, file)) {
    operators[network.name] = std::move(network.operators);
  }
  CsvReader csv(text, file);
  const std::size_t name_column = csv.require("network", "network,index,operation and so on");
  std::map<std::string, std::size_t> places;
  for (const auto& [device, column] : columns) places[device] = csv.require(column, "a column of latencies in ms");
  std::map<std::string, std::size_t> rows_of_network;
  std::map<std::string, std::vector<OperatorLatency>> latencies;
  while (csv.next()) {
    const std::string network(trimmed(csv.fields()[name_column]));
    const std::size_t row = rows_of_network[network]++;
    for (const auto& [device, place] : places) {
      const std::string_view field = trimmed(csv.fields()[place]);
      if (field.empty()) continue;
      const auto value = parse_number(field);
      if (!value || !std::isfinite(*value) || *value <= 0) {
        throw InputError(file + ":" + std::to_string(csv.line()) + ": column '" + columns.at(device) + "': is '" +
                         excerpt(field) + "', expected a positive number or nothing");
      }
      latencies[device].push_back({operators.at(network).at(row), *value, network});
    }
  }
  return latencies;
}

std::map<std::string, std::vector<OperatorLatency>> read_operator_latencies(const std::filesystem::path& path,
                                                                            const ColumnOfDevice& columns) {
  return parse_operator_latencies(read_file(path), name_in_messages(path), columns);
}

}  // namespace tenshot::datasets
