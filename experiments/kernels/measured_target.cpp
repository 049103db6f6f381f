#include "experiments/kernels/measured_target.h"

#include <algorithm>

#include "datasets/tables/csv.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/median.h"
#include "nasbench/support/numbers.h"

namespace tenshot::experiments {

using datasets::KernelRow;

std::map<std::string, std::string> read_roles(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  datasets::CsvReader csv(text, path.string());
  const std::size_t network = csv.require("network", "network,role"), role = csv.require("role", "network,role");
  std::map<std::string, std::string> roles;
  while (csv.next()) roles[std::string(csv.fields().at(network))] = std::string(csv.fields().at(role));
  return roles;
}

Target read_target(const std::filesystem::path& folder, const std::map<std::string, std::string>& roles) {
  Target target;
  target.runtime = folder.filename().string();
  const nasbench::FusionRules rules = nasbench::fusion_rules((folder / "kernels_rules.json").string());
  const std::string text = read_file(folder / "networks.csv");
  datasets::CsvReader csv(text, (folder / "networks.csv").string());
  const std::string columns = "network,latency_ms,seconds";
  const std::size_t name = csv.require("network", columns), latency = csv.require("latency_ms", columns),
                    seconds = csv.require("seconds", columns);
  while (csv.next()) {
    const auto latency_ms = parse_number(csv.fields().at(latency));
    if (!latency_ms) continue;  // the runtime cannot run it
    MeasuredNetwork network;
    network.name = std::string(csv.fields().at(name));
    network.identity = nasbench::networks().parse(network.name);
    network.latency_ms = *latency_ms;
    network.seconds = parse_number(csv.fields().at(seconds)).value_or(0);
    network.kernels =
        trainer::kernels::kernels_of(trainer::kernels::graph_of(nasbench::named_network(network.identity)), rules);
    (roles.at(network.name) == "train" ? target.train : target.test).push_back(std::move(network));
  }
  std::vector<double> calls;
  for (const KernelRow& row : datasets::read_kernel_table(folder / "kernels.csv")) {
    if (row.purpose == "call") calls.push_back(row.latency_ms);
    if (row.purpose == "call" && calls.size() == 1) target.call_s = row.seconds;
    if (row.purpose == "sample") target.samples.push_back(row);
    if (row.purpose == "grid") target.grid.push_back(row);
    if (row.purpose.rfind("network ", 0) == 0) target.of_networks.push_back(row);
  }
  if (calls.empty()) throw InputError(folder.string() + ": has no row of what a call costs");
  target.call_ms = upper_median(calls);
  return target;
}

}  // namespace tenshot::experiments
