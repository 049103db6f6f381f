// Files from strangers: whatever bytes they hold, reading them ends in a value or in a tenshot::Error.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "datasets/pool/describe.h"
#include "datasets/pool/device_file.h"
#include "tests/unit/datasets/fixtures.h"

namespace tenshot::datasets {
namespace {

/// One to four edits: a byte changed, removed or doubled, a piece cut out, moved or repeated, something nasty put in.
std::string mutated(std::string text, Rng& rng) {
  static const std::vector<std::string> nasty = {"\"",
                                                 ",",
                                                 "\n",
                                                 "\r",
                                                 std::string(1, '\0'),
                                                 "\xFF",
                                                 "\xEF\xBB\xBF",
                                                 "1e999",
                                                 "-1",
                                                 "nan",
                                                 "[",
                                                 "{",
                                                 "}",
                                                 "null",
                                                 "true",
                                                 "1e-400",
                                                 "\\",
                                                 "\"\"",
                                                 "../",
                                                 ",,,,,",
                                                 "18446744073709551616"};
  const std::uint64_t edits = 1 + rng.below(4);
  for (std::uint64_t i = 0; i < edits && !text.empty(); ++i) {
    const std::size_t at = rng.below(text.size());
    const std::size_t length = 1 + rng.below(std::min<std::size_t>(40, text.size() - at));
    switch (rng.below(6)) {
      case 0: text[at] = static_cast<char>(rng.below(256)); break;
      case 1: text.erase(at, length); break;
      case 2: text.insert(rng.below(text.size()), text.substr(at, length)); break;
      case 3: text.insert(at, nasty[rng.below(nasty.size())]); break;
      case 4: text.replace(at, length, nasty[rng.below(nasty.size())]); break;
      default: text.resize(at);
    }
  }
  return text;
}

/// Runs `read` on mutations of `text`; returns how many were read and how many refused.
template <class Read>
std::pair<int, int> survive(const std::string& text, int mutations, std::uint64_t seed, const Read& read) {
  Rng rng(seed);
  int accepted = 0, refused = 0;
  for (int i = 0; i < mutations; ++i) {
    const std::string input = mutated(text, rng);
    try {
      read(input);
      ++accepted;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      ++refused;
    } catch (const std::exception& error) {
      ADD_FAILURE() << "mutation " << i << ": " << error.what() << "\n" << input;
    }
  }
  return {accepted, refused};
}

TEST(StrangersFiles, AMutatedMeasurementsTableIsReadOrRefused) {
  std::string text = "architecture,latency_ms,stddev_ms,runs\n";
  for (int i = 0; i < 8; ++i) text += text_of(i) + "," + std::to_string(2.5 + i) + ",0.125,50\n";
  const auto [accepted, refused] = survive(text, 20'000, 1, [](const std::string& input) {
    const Measurements read = parse_measurements(input, "m.csv", space());
    for (const Measurement& row : read.rows) ASSERT_TRUE(std::isfinite(row.latency_ms) && row.latency_ms > 0);
    for (const Finding& finding : read.findings.first()) ASSERT_EQ(finding.message().find('\n'), std::string::npos);
  });
  EXPECT_GT(accepted, 1000);
  EXPECT_GT(refused, 100);
}

TEST(StrangersFiles, AMutatedWideTableIsReadOrRefused) {
  std::string text = "index,architecture,a,b\r\n";
  for (int i = 0; i < 6; ++i)
    text += std::to_string(i) + "," + text_of(i) + ",1.5,\"" + std::to_string(i + 1) + "\"\r\n";
  const auto [accepted, refused] = survive(text, 10'000, 2, [](const std::string& input) {
    const Pool pool = parse_wide_table(input, "w.csv", space(), {{}, RowRange{0, 4}});
    const PoolSummary summary = describe(pool);
    ASSERT_FALSE(to_json(summary, pool.findings).dump().empty());
  });
  EXPECT_GT(accepted, 1000);
  EXPECT_GT(refused, 100);
}

TEST(StrangersFiles, AMutatedDeviceFileIsReadOrRefused) {
  Rng rng(7);
  DeviceRuntime device = random_device("nano", 0, rng);
  device.descriptor.operators.resize(3);
  device.descriptor.in_network.resize(2);
  const std::string text = to_json(device, space()).dump(2);
  const auto [accepted, refused] = survive(text, 20'000, 3, [](const std::string& input) {
    const DeviceFile file = device_file_from_json(parse_json(input, "d.json"), "d.json");
    ASSERT_TRUE(is_device_id(file.device.id));
    ASSERT_EQ(file.latencies.find('/'), std::string::npos);
    ASSERT_FALSE(to_json(file.device, *file.space).dump().empty());
  });
  EXPECT_GT(accepted, 100);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace tenshot::datasets
