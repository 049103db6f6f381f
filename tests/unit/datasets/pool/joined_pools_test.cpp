#include "datasets/pool/joined_pools.h"

#include <gtest/gtest.h>

#include "nasbench/support/error.h"
#include "tests/unit/datasets/fixtures.h"

namespace tenshot::datasets {
namespace {

template <class Throws>
std::string message_of(const Throws& throws) {
  try {
    throws();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

Pool pool_of(const std::vector<std::string>& ids) {
  Pool pool = random_pool(ids.size(), 5, 1);
  for (std::size_t d = 0; d < ids.size(); ++d) pool.devices[d].id = ids[d];
  return pool;
}

std::vector<std::string> ids_of(const Pool& pool) {
  std::vector<std::string> ids;
  for (const DeviceRuntime& device : pool.devices) ids.push_back(device.id);
  return ids;
}

TEST(JoinedPools, HoldTheDevicesOfAllInTheOrderOfTheirIds) {
  const TemporaryFolder folder;
  write_pool(folder.path() / "a", pool_of({"mine", "zeta"}));
  write_pool(folder.path() / "b", pool_of({"alpha"}));
  const Pool joined = read_pools({folder.path() / "a", folder.path() / "b"});
  EXPECT_EQ(ids_of(joined), (std::vector<std::string>{"alpha", "mine", "zeta"}));
  EXPECT_EQ(joined.devices[0].latencies.size(), 5U);
}

TEST(JoinedPools, WithOneIdInTwo_AreRefusedNamingBothFolders) {
  const TemporaryFolder folder;
  write_pool(folder.path() / "a", pool_of({"mine"}));
  write_pool(folder.path() / "b", pool_of({"mine"}));
  const std::string message = message_of([&] { read_pools({folder.path() / "a", folder.path() / "b"}); });
  EXPECT_NE(message.find("'mine'"), std::string::npos) << message;
  EXPECT_NE(message.find((folder.path() / "a").string()), std::string::npos) << message;
  EXPECT_NE(message.find((folder.path() / "b").string()), std::string::npos) << message;
}

TEST(JoinedPools, OfTwoQuantities_AreRefused) {
  const TemporaryFolder folder;
  Pool energy = pool_of({"other"});
  energy.devices[0].quantity = Quantity::energy;
  energy.devices[0].descriptor = {};
  write_pool(folder.path() / "a", pool_of({"mine"}));
  write_pool(folder.path() / "b", energy);
  EXPECT_NE(message_of([&] {
              read_pools({folder.path() / "a", folder.path() / "b"});
            }).find("--quantity"),
            std::string::npos);
}

TEST(LeaveOutDevices, TakesPatterns) {
  Pool pool = pool_of({"pixel4_cpu", "pixel4_gpu", "s10_cpu"});
  leave_out_devices(pool, {"pixel4_*"});
  EXPECT_EQ(ids_of(pool), std::vector<std::string>{"s10_cpu"});
  EXPECT_NE(message_of([&] { leave_out_devices(pool, {"pixel4_*"}); }).find("'pixel4_*' fits no"), std::string::npos);
  EXPECT_NE(message_of([&] { leave_out_devices(pool, {"*"}); }).find("would be left"), std::string::npos);
}

}  // namespace
}  // namespace tenshot::datasets
