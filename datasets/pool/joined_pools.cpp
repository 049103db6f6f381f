#include "datasets/pool/joined_pools.h"

#include <algorithm>
#include <map>
#include <utility>

#include "nasbench/support/error.h"
#include "nasbench/support/text.h"

namespace tenshot::datasets {
namespace {

/// Throws InputError where a pool cannot stand beside the first.
void require_alike(const Pool& first, const std::string& first_folder, const Pool& other, const std::string& folder) {
  if (first.space != other.space) {
    throw InputError(folder + ": is of space '" + std::string(other.space->name()) + "', " + first_folder + " is of '" +
                     std::string(first.space->name()) + "'; join pools of one space");
  }
  if (first.quantity() != other.quantity()) {
    throw InputError(folder + ": holds " + column(other.quantity()) + ", " + first_folder + " holds " +
                     column(first.quantity()) + "; say which by --quantity");
  }
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

}  // namespace tenshot::datasets
