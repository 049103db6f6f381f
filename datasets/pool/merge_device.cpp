#include "datasets/pool/merge_device.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "datasets/tables/time_unit.h"
#include "nasbench/support/error.h"
#include "nasbench/support/number_text.h"
#include "nasbench/support/text.h"

namespace tenshot::datasets {
namespace {

void require_same(const std::string& id, const std::string& what, const std::string& now, const std::string& then) {
  if (now == then) return;
  throw InputError("the pool's device-runtime '" + id + "' has the " + what + " '" + excerpt(then) +
                   "', and this is of '" + excerpt(now) + "'; give this one a name of its own by --id");
}

/// A board that only one of two device-runtimes names is not the board of both.
void keep_common_board(DeviceRuntime& device, const DeviceRuntime& earlier) {
  const std::string board = board_of(device), other = board_of(earlier);
  if (!board.empty() && !other.empty()) require_same(device.id, "board", board, other);
  if (board.empty() || !other.empty()) return;
  auto environment = nlohmann::json::parse(device.environment);
  for (const char* state : {"before", "after"}) {
    if (environment.contains(state) && environment[state].is_object()) environment[state].erase(board_key);
  }
  device.environment = environment.dump();
}

}  // namespace

std::string board_of(const DeviceRuntime& device) {
  const auto environment = nlohmann::json::parse(device.environment, nullptr, false);
  const auto before = environment.is_object() ? environment.find("before") : environment.end();
  if (before == environment.end() || !before->is_object()) return "";
  const auto board = before->find(board_key);
  return board != before->end() && board->is_string() ? board->get<std::string>() : "";
}

std::string add_earlier(DeviceRuntime& device, const DeviceRuntime& earlier) {
  require_same(device.id, "board", device.device, earlier.device);
  require_same(device.id, "runtime", device.runtime, earlier.runtime);
  require_same(device.id, "precision", device.precision, earlier.precision);
  require_same(device.id, "batch", std::to_string(device.batch), std::to_string(earlier.batch));
  require_same(device.id, "number of threads", std::to_string(device.threads), std::to_string(earlier.threads));
  require_same(device.id, "quantity", std::string(name(device.quantity)), std::string(name(earlier.quantity)));
  keep_common_board(device, earlier);
  std::unordered_map<nasbench::Architecture, double, nasbench::ArchitectureHash> now;
  for (const Measurement& row : device.latencies) now.emplace(row.architecture, row.latency_ms);
  std::vector<double> changes, ratios;
  std::size_t kept = 0;
  for (const Measurement& row : earlier.latencies) {
    const auto found = now.find(row.architecture);
    if (found == now.end()) {
      device.latencies.push_back(row);
      ++kept;
    } else {
      ratios.push_back(found->second / row.latency_ms);
      changes.push_back(std::abs(ratios.back() - 1));
    }
  }
  std::unordered_set<std::string> profiled;
  for (const OperatorLatency& latency : device.operator_latencies) profiled.insert(latency.network);
  for (const OperatorLatency& latency : earlier.operator_latencies) {
    if (profiled.count(latency.network) == 0) device.operator_latencies.push_back(latency);
  }
  if (!device.descriptor.has_latencies() && earlier.descriptor.has_latencies()) device.descriptor = earlier.descriptor;
  std::string text = device.id + ": was in the pool; networks kept from there: " + std::to_string(kept) +
                     ", measured again: " + std::to_string(changes.size());
  if (changes.empty()) return text;
  std::sort(changes.begin(), changes.end());
  text += " (the new values count; they differ by " + significant_digits(100 * changes[changes.size() / 2], 2) +
          " % typically and " + significant_digits(100 * changes.back(), 2) + " % at most)";
  const std::string doubt = unit(device.quantity) == "ms" ? unit_doubt(ratios, "the new one", "the earlier one") : "";
  return doubt.empty() ? text : text + "; " + doubt;
}

}  // namespace tenshot::datasets
