#include "datasets/pool/pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "nasbench/spaces/search_space.h"
#include "nasbench/support/files.h"
#include "tests/unit/datasets/fixtures.h"

namespace tenshot::datasets {
namespace {

namespace fs = std::filesystem;

TEST(Pool, ReadsBackExactlyWhatWasWritten) {
  Pool pool = random_pool(3, 200, 11);
  pool.devices[1].descriptor.operators[4].counts[2] = std::numeric_limits<double>::quiet_NaN();
  const TemporaryFolder folder;
  write_pool(folder.path(), pool);
  const Pool read = read_pool(folder.path());
  EXPECT_TRUE(read.findings.empty());
  EXPECT_EQ(read.space, pool.space);
  EXPECT_EQ(content_hash(read), content_hash(pool));
  ASSERT_EQ(read.devices.size(), 3U);
  for (std::size_t d = 0; d < 3; ++d) {
    EXPECT_EQ(read.devices[d].device, pool.devices[d].device);
    EXPECT_EQ(read.devices[d].runtime, pool.devices[d].runtime);
    EXPECT_EQ(read.devices[d].precision, pool.devices[d].precision);
    EXPECT_EQ(read.devices[d].batch, pool.devices[d].batch);
    EXPECT_EQ(read.devices[d].threads, pool.devices[d].threads);
    EXPECT_EQ(read.devices[d].input_shape, pool.devices[d].input_shape);
    EXPECT_EQ(read.devices[d].environment, pool.devices[d].environment);
  }
  EXPECT_TRUE(std::isnan(read.devices[1].descriptor.operators[4].counts[2]));
}

TEST(Pool, WritesTheSameBytesAgain) {
  const TemporaryFolder folder;
  const Pool pool = random_pool(1, 50, 3);
  write_pool(folder.path() / "first", pool);
  write_pool(folder.path() / "second", read_pool(folder.path() / "first"));
  for (const char* file : {"board-0/device.json", "board-0/latencies.csv"}) {
    EXPECT_EQ(read_file(folder.path() / "first" / file), read_file(folder.path() / "second" / file));
  }
}

TEST(Pool, IsReadInTheOrderOfItsIds) {
  Pool pool = random_pool(3, 5, 1);
  pool.devices[0].id = "zeta";
  pool.devices[2].id = "alpha";
  const TemporaryFolder folder;
  write_pool(folder.path(), pool);
  fs::create_directory(folder.path() / "notes");
  const Pool read = read_pool(folder.path());
  ASSERT_EQ(read.devices.size(), 3U);
  EXPECT_EQ(read.devices[0].id, "alpha");
  EXPECT_EQ(read.devices[2].id, "zeta");
  EXPECT_EQ(read.find("zeta"), &read.devices[2]);
  EXPECT_EQ(read.find("beta"), nullptr);
}

TEST(Pool, CollectsTheFindingsOfItsDevices) {
  const TemporaryFolder folder;
  write_pool(folder.path(), random_pool(2, 5, 1));
  const fs::path latencies = folder.path() / "board-1" / "latencies.csv";
  write_file_atomically(latencies, read_file(latencies) + "|bogus|,4,,\n");
  const Pool read = read_pool(folder.path());
  ASSERT_EQ(read.findings.total(), 1U);
  EXPECT_EQ(read.findings.first()[0].file, latencies.string());
  EXPECT_EQ(read.findings.first()[0].line, 7U);
}

TEST(Pool, SaysWhyAFolderIsNone) {
  const TemporaryFolder folder;
  EXPECT_NE(message_of([&] { read_pool(folder.path() / "nowhere"); }).find("no such folder"), std::string::npos);
  EXPECT_NE(message_of([&] { read_pool(folder.path()); }).find("holds no device"), std::string::npos);
  write_pool(folder.path(), random_pool(1, 5, 1));
  EXPECT_NE(message_of([&] { read_pool(folder.path() / "board-0"); }).find("give the folder above"), std::string::npos);
  EXPECT_THROW(read_pool(folder.path() / "board-0" / "device.json"), FileError);
}

TEST(Pool, RefusesOneIdInTwoFolders) {
  const TemporaryFolder folder;
  write_pool(folder.path(), random_pool(1, 5, 1));
  fs::copy(folder.path() / "board-0", folder.path() / "copy", fs::copy_options::recursive);
  EXPECT_NE(message_of([&] { read_pool(folder.path()); }).find("'board-0' stands in another folder too"),
            std::string::npos);
}

TEST(ReadDevice, TakesTheFileOrItsFolder) {
  const TemporaryFolder folder;
  const Pool pool = random_pool(1, 5, 1);
  write_pool(folder.path(), pool);
  EXPECT_EQ(read_device(folder.path() / "board-0").device.latencies.size(), 5U);
  EXPECT_EQ(read_device(folder.path() / "board-0" / "device.json").device.descriptor.operators.size(), 15U);
}

TEST(ReadDevice, SaysWhenTheLatenciesAreNotBesideIt) {
  const TemporaryFolder folder;
  write_pool(folder.path(), random_pool(1, 5, 1));
  fs::remove(folder.path() / "board-0" / "latencies.csv");
  EXPECT_NE(message_of([&] { read_device(folder.path() / "board-0"); }).find("'latencies.csv' are not beside it"),
            std::string::npos);
}

TEST(WriteDevice, RefusesIdsThatWouldLeaveTheFolder) {
  const TemporaryFolder folder;
  Rng rng(1);
  const std::vector<std::string> bad_ids = {"",     ".",       "..",  "../x", "a/b",
                                            "a\\b", ".hidden", "a b", "é",    std::string(129, 'a')};
  for (const std::string& id : bad_ids) {
    EXPECT_THROW(write_device(folder.path(), random_device(id, 3, rng), space()), InputError) << id;
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(WriteDevice, RefusesWhatADeviceFileCannotHold) {
  const TemporaryFolder folder;
  const auto refuses = [&](const auto& change) {
    Rng rng(1);
    DeviceRuntime device = random_device("d", 3, rng);
    change(device);
    EXPECT_THROW(write_device(folder.path(), device, space()), InputError);
  };
  refuses([](DeviceRuntime& d) { d.environment = "not json"; });
  refuses([](DeviceRuntime& d) { d.environment = "[1]"; });
  refuses([](DeviceRuntime& d) { d.device = "\xFF"; });
  refuses([](DeviceRuntime& d) { d.descriptor.operators[3].counts.pop_back(); });
  refuses([](DeviceRuntime& d) { d.descriptor.operators[3].latency_ms = -1; });
  refuses([](DeviceRuntime& d) { d.descriptor.operators[3].latency_ms = std::nan(""); });
  refuses([](DeviceRuntime& d) { d.descriptor.source = "guesswork"; });
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(LatencyMatrix, HasNanWhereADeviceDidNotMeasure) {
  const Architecture a = space().at(5), b = space().at(6), c = space().at(7);
  Pool pool;
  pool.space = &space();
  pool.devices.resize(3);
  pool.devices[0].latencies = {{a, 1}, {b, 2}};
  pool.devices[1].latencies = {{c, 3}, {b, 4}};
  const LatencyMatrix matrix = latency_matrix(pool);
  EXPECT_EQ(matrix.architectures, (std::vector<Architecture>{a, b, c}));
  ASSERT_EQ(matrix.latency_ms.size(), 3U);
  EXPECT_EQ(matrix.latency_ms[0][0], 1);
  EXPECT_EQ(matrix.latency_ms[0][1], 2);
  EXPECT_TRUE(std::isnan(matrix.latency_ms[0][2]));
  EXPECT_TRUE(std::isnan(matrix.latency_ms[1][0]));
  EXPECT_EQ(matrix.latency_ms[1][1], 4);
  EXPECT_EQ(matrix.latency_ms[1][2], 3);
  for (const double missing : matrix.latency_ms[2]) EXPECT_TRUE(std::isnan(missing));
}

TEST(ContentHash, IgnoresTheOrderOfDevicesAndRows) {
  const Pool pool = random_pool(3, 50, 8);
  Pool other = pool;
  std::reverse(other.devices.begin(), other.devices.end());
  std::reverse(other.devices[0].latencies.begin(), other.devices[0].latencies.end());
  EXPECT_EQ(content_hash(pool), content_hash(other));
  EXPECT_EQ(content_hash(pool).size(), 64U);
}

TEST(ContentHash, ChangesWithEveryPartOfTheContent) {
  const Pool pool = random_pool(2, 10, 8);
  const auto changes = [&](const auto& change) {
    Pool other = pool;
    change(other);
    EXPECT_NE(content_hash(pool), content_hash(other));
  };
  changes([](Pool& p) { p.devices[0].id += "x"; });
  changes([](Pool& p) { p.devices.pop_back(); });
  changes([](Pool& p) { p.devices[0].latencies.pop_back(); });
  changes([](Pool& p) { std::swap(p.devices[0].latencies[0].latency_ms, p.devices[0].latencies[1].latency_ms); });
  changes(
      [](Pool& p) { p.devices[1].latencies[3].latency_ms = std::nextafter(p.devices[1].latencies[3].latency_ms, 0); });
  changes([](Pool& p) { p.devices[1].descriptor.source = "callgrind"; });
  changes([](Pool& p) { p.devices[1].descriptor.counters[0] = "other"; });
  changes([](Pool& p) { p.devices[1].descriptor.operators[2].latency_ms *= 2; });
  changes([](Pool& p) { p.devices[1].descriptor.operators[2].counts[1] += 1; });
  changes([](Pool& p) { p.devices[1].descriptor.in_network.clear(); });
  changes([](Pool& p) { p.devices[1].descriptor.in_network[4].name = "relu6"; });
  changes([](Pool& p) { p.devices[1].descriptor.in_network[4].key.input[1] += 1; });
  changes([](Pool& p) { p.devices[1].descriptor.in_network[4].key.operators[0].kernel.width += 1; });
  changes([](Pool& p) { p.devices[1].descriptor.in_network[4].latency_ms *= 2; });
}

TEST(ContentHash, WithoutOperationsInsideANetworkIsWhatItWasBeforeThereWereAny) {
  Pool pool;
  pool.space = &space();
  pool.devices.resize(1);
  pool.devices[0].id = "d";
  pool.devices[0].descriptor.source = "latency_only";
  pool.devices[0].descriptor.operators = {{"none", *nasbench::nasbench201().named_operation("none", 16, 32), 0.5, {}}};
  pool.devices[0].latencies = {{space().at(0), 2}};
  // SHA-256 over: texts after their length, numbers of 8 bytes, little-endian.
  EXPECT_EQ(content_hash(pool), "77503a6d494a24cbbb2753e8512578c9473b25964b546c7e7435336b446e2b8f");
}

}  // namespace
}  // namespace tenshot::datasets
