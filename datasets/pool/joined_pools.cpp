#include "datasets/pool/joined_pools.h"

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_set>

#include "nasbench/support/number_text.h"

namespace tenshot::datasets {
namespace {

/// Throws InputError where a pool cannot stand beside the first.
void require_alike(const Pool& first, const std::string& first_folder, const Pool& other, const std::string& folder) {
  if (first.space != other.space) {
    throw InputError(folder + ": is of space '" + std::string(other.space->name()) + "', " + first_folder + " is of '" +
                     std::string(first.space->name()) + "', another one; join pools of one space");
  }
  if (first.quantity() != other.quantity()) {
    throw InputError(folder + ": holds " + column(other.quantity()) + ", " + first_folder + " holds " +
                     column(first.quantity()) + "; say which by --quantity");
  }
}

/// What a device-runtime says of itself; empty where it does not know.
std::string said(const std::string& text) { return text == "unknown" ? "" : text; }
std::string said(int number) { return number == 0 ? "" : std::to_string(number); }

/// Takes what only `then` says. Throws InputError where the two say different things.
template <class Value>
void agree(const std::string& id, const std::string& what, Value& now, const Value& then) {
  if (said(now).empty()) now = then;
  if (now == then || said(then).empty()) return;
  throw InputError("the pool's device-runtime '" + id + "' has the " + what + " '" + excerpt(said(then)) +
                   "', and this is of '" + excerpt(said(now)) + "'; give this one a name of its own by --id");
}

/// A board that only one of two device-runtimes names is not the board of both.
void keep_common_board(DeviceRuntime& device, const DeviceRuntime& earlier) {
  std::string board = board_of(device);
  const std::string other = board_of(earlier);
  if (board.empty()) return;
  agree(device.id, "board", board, other);
  if (!other.empty()) return;
  auto environment = nlohmann::json::parse(device.environment);
  for (const char* state : {"before", "after"}) {
    if (environment.contains(state) && environment[state].is_object()) environment[state].erase(board_key);
  }
  device.environment = environment.dump();
}

/// Numbers for the devices of a pool, equal for what is likely to be one physical device: by `label`.
std::vector<std::size_t> numbered(const Pool& pool, const std::function<std::string(const DeviceRuntime&)>& label) {
  std::map<std::string, std::size_t> numbers;
  std::vector<std::size_t> result;
  for (const DeviceRuntime& device : pool.devices) {
    result.push_back(numbers.emplace(label(device), numbers.size()).first->second);
  }
  return result;
}

}  // namespace

Pool read_pools(const std::vector<std::filesystem::path>& folders, std::optional<Quantity> quantity) {
  Pool joined;
  std::map<std::string, std::string> folder_of;  // by id
  for (const std::filesystem::path& folder : folders) {
    Pool pool = read_pool(folder, quantity);
    if (joined.space != nullptr) require_alike(joined, folders.front().string(), pool, folder.string());
    joined.space = pool.space;
    joined.findings.add(pool.findings);
    for (DeviceRuntime& device : pool.devices) {
      const auto [known, is_new] = folder_of.emplace(device.id, folder.string());
      if (!is_new) {
        throw InputError("device '" + device.id + "' stands in " + known->second + " and in " + folder.string() +
                         "; give one of them another id, in its device.json and its folder's name");
      }
      joined.devices.push_back(std::move(device));
    }
  }
  std::sort(joined.devices.begin(), joined.devices.end(),
            [](const DeviceRuntime& a, const DeviceRuntime& b) { return a.id < b.id; });
  return joined;
}

void leave_out_devices(Pool& pool, const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    const auto fits = [&](const DeviceRuntime& device) { return fits_pattern(device.id, pattern); };
    const auto begin = std::remove_if(pool.devices.begin(), pool.devices.end(), fits);
    if (begin == pool.devices.end()) {
      throw InputError("'" + pattern + "' fits no device-runtime of the pool that is not left out already");
    }
    pool.devices.erase(begin, pool.devices.end());
  }
  if (pool.devices.empty()) throw InputError("no device-runtime of the pool would be left");
}

std::string board_of(const DeviceRuntime& device) {
  const auto environment = nlohmann::json::parse(device.environment, nullptr, false);
  const nlohmann::json::json_pointer place(std::string("/before/") + board_key);
  return environment.contains(place) && environment[place].is_string() ? environment[place].get<std::string>() : "";
}

std::string add_earlier(DeviceRuntime& device, const DeviceRuntime& earlier) {
  if (device.device == device.id) device.device = earlier.device;  // of a table, which says nothing of it
  if (earlier.device != earlier.id) agree(device.id, "board", device.device, earlier.device);
  agree(device.id, "runtime", device.runtime, earlier.runtime);
  agree(device.id, "precision", device.precision, earlier.precision);
  agree(device.id, "batch", device.batch, earlier.batch);
  agree(device.id, "number of threads", device.threads, earlier.threads);
  std::string quantity(name(device.quantity));
  agree(device.id, "quantity", quantity, std::string(name(earlier.quantity)));
  keep_common_board(device, earlier);
  nasbench::ArchitectureMap<double> now;
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
  text += " (the new values count; they differ by " + percent_or_factor(changes[changes.size() / 2]) +
          " typically and " + percent_or_factor(changes.back()) + " at most)";
  const std::string doubt = unit(device.quantity) == "ms" ? unit_doubt(ratios, "the new one", "the earlier one") : "";
  return doubt.empty() ? text : text + "; " + doubt;
}

std::vector<std::size_t> families_of(const Pool& pool) {
  const auto enough = [](const std::vector<std::size_t>& numbers) {
    return std::set<std::size_t>(numbers.begin(), numbers.end()).size() >= 3;
  };
  const auto device = numbered(pool, [](const auto& d) { return d.device; });
  const bool says_device =
      std::any_of(pool.devices.begin(), pool.devices.end(), [](const auto& d) { return d.device != d.id; });
  if (says_device && enough(device)) return device;
  const auto prefix = numbered(pool, [](const auto& d) { return d.id.substr(0, d.id.find_first_of("_-")); });
  if (enough(prefix)) return prefix;
  return numbered(pool, [](const auto& d) { return d.id; });
}

std::vector<std::size_t> settings_of(const Pool& pool, std::size_t device) {
  const std::vector<std::size_t> families = families_of(pool);
  std::vector<std::size_t> members;
  for (std::size_t d = 0; d < families.size(); ++d) {
    if (families[d] != families[device] || pool.devices[d].runtime != pool.devices[device].runtime) continue;
    members.push_back(d);
  }
  return members;
}

std::vector<double> nearer_half(std::vector<double> distances) {
  std::sort(distances.begin(), distances.end());
  distances.resize((distances.size() + 1) / 2);
  return distances;
}

}  // namespace tenshot::datasets
