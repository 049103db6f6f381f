// What the fuzzers claim, of their seeds and of some thousand damaged copies: in every run of the tests, without
// libFuzzer and sanitizers. A claim that does not hold ends the process, and its last line names the seed.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "nasbench/support/files.h"

// clang-format off
#define TARGETS(TARGET) \
  TARGET(archive) TARGET(cold) TARGET(counters) TARGET(device_file) TARGET(kit) TARGET(measurements) TARGET(ncnn) \
  TARGET(networks) TARGET(onnx) TARGET(operators) TARGET(predictions) TARGET(profiles) TARGET(report) TARGET(rules) \
  TARGET(space) TARGET(spec) TARGET(tflite) TARGET(wide_table)
// clang-format on

// Each target's LLVMFuzzerTestOneInput is compiled by a name of its own here.
#define DECLARED(name) extern "C" int fuzz_##name(const std::uint8_t* data, std::size_t size);
TARGETS(DECLARED)

namespace {

namespace fs = std::filesystem;

struct Target {
  const char* name;
  int (*run)(const std::uint8_t*, std::size_t);
};

void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }

class FuzzTarget : public ::testing::TestWithParam<Target> {};

constexpr int copies = 1'000;  ///< of all seeds of one target

/// One to four changes: a byte that is another one, a part that is gone, or that stands twice.
std::string damaged(std::string text, std::mt19937& random) {
  const auto below = [&](std::size_t end) { return random() % std::max<std::size_t>(end, 1); };
  for (std::size_t change = 0, changes = 1 + below(4); change < changes && !text.empty(); ++change) {
    const std::size_t at = below(text.size()), length = 1 + below(std::min<std::size_t>(text.size() - at, 64));
    switch (below(3)) {
      case 0: text[at] = static_cast<char>(below(256)); break;
      case 1: text.erase(at, length); break;
      default: text.insert(at, text.substr(at, length)); break;
    }
  }
  return text;
}

void run(const Target& target, const std::string& input) {
  target.run(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

TEST_P(FuzzTarget, SurvivesItsSeedsAndDamagedOnes) {
  std::vector<fs::path> seeds;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::path(TENSHOT_SOURCE_DIR) / "tests/fuzz/seeds" / GetParam().name)) {
    seeds.push_back(entry.path());
  }
  std::sort(seeds.begin(), seeds.end());
  ASSERT_FALSE(seeds.empty());
  std::mt19937 random(1);
  for (const fs::path& seed : seeds) {
    std::cout << seed.filename().string() << std::endl;
    const std::string text = tenshot::read_file(seed);
    run(GetParam(), text);
    for (std::size_t copy = 0; copy < copies / seeds.size(); ++copy) run(GetParam(), damaged(text, random));
  }
}

#define LISTED(name) Target{#name, fuzz_##name},
const std::vector<Target> targets = {TARGETS(LISTED)};

INSTANTIATE_TEST_SUITE_P(Fuzz, FuzzTarget, ::testing::ValuesIn(targets),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
