#include "experiments/kernels/profiles.h"

#include <optional>

#include "datasets/tables/csv.h"
#include "datasets/tables/network_sources.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot::experiments {
namespace {

using datasets::CsvReader;
using datasets::parse_operator_table;
using datasets::quoted_list;

/// Where the profiles of one setting stand.
struct SettingColumns {
  std::size_t latency;
  std::optional<std::size_t> kernel;
};

Profile read_profile(const CsvReader& csv, const SettingColumns& columns) {
  const std::string_view text = csv.fields()[columns.latency];
  const std::optional<double> latency = parse_number(text);
  if (!latency || !(*latency > 0) || *latency > 1e9) {
    throw InputError(csv.file() + ":" + std::to_string(csv.line()) + ": column " + csv.header()[columns.latency] +
                     ": is '" + excerpt(text) + "', expected a positive number of milliseconds");
  }
  return {*latency, columns.kernel ? excerpt(csv.fields()[*columns.kernel], 200) : ""};
}

}  // namespace

ProfiledNetworks parse_profiles(std::string_view text, const std::string& file) {
  ProfiledNetworks result;
  for (nasbench::NamedNetwork& network : parse_operator_table(text, file)) {
    result.networks.push_back({network.name, std::move(network.operators), {}});
  }
  CsvReader csv(text, file);
  std::vector<SettingColumns> columns;
  for (std::size_t i = 0; i < csv.header().size(); ++i) {
    const std::string& column = csv.header()[i];
    if (column.size() < 4 || !ends_with(column, "_ms")) continue;
    result.settings.push_back(column.substr(0, column.size() - 3));
    columns.push_back({i, csv.find(result.settings.back() + "_kernel")});
  }
  if (columns.empty()) {
    throw InputError(file + ": has no column of latencies, expected NAME_ms for each device-runtime; there are " +
                     quoted_list(csv.header()));
  }
  const std::size_t name_column = csv.require("network", "network");
  while (csv.next()) {
    for (ProfiledNetwork& network : result.networks) {
      if (network.name != trimmed(csv.fields()[name_column])) continue;
      network.profiles.emplace_back();
      for (const SettingColumns& setting : columns) network.profiles.back().push_back(read_profile(csv, setting));
    }
  }
  return result;
}

ProfiledNetworks read_profiles(const std::filesystem::path& path) {
  return parse_profiles(read_file(path), path.string());
}

}  // namespace tenshot::experiments
