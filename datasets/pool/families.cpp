#include "datasets/pool/families.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>

namespace tenshot::datasets {
namespace {

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
