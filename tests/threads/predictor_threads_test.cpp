// One predictor in many threads, as <tenshot/predictor.h> allows it. ThreadSanitizer finds what the comparison of
// results does not: `cmake --preset tsan && cmake --build --preset tsan && build-tsan/tests/test_threads`.

#include <gtest/gtest.h>
#include <tenshot/predictor.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "nasbench/spaces/networks.h"
#include "nasbench/support/files.h"
#include "tests/unit/trainer/fixtures.h"
#include "trainer/predictors/registry.h"
#include "trainer/predictors/verdict.h"

namespace tenshot {
namespace {

constexpr int threads = 8;

void run_in_threads(const std::function<void(int)>& work) {
  std::vector<std::thread> running;
  std::atomic<int> waiting{threads};
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      --waiting;
      while (waiting > 0) std::this_thread::yield();  // all at once
      work(t);
    });
  }
  for (std::thread& thread : running) thread.join();
}

/// A network of one linear layer, whose latency is about a constant for each element.
nasbench::NamedNetwork linear_network(const std::string& name, std::int64_t width) {
  nasbench::OperatorSpecification op;
  op.kind = nasbench::OperatorKind::linear;
  op.inputs = {{1, width}};
  op.output = {1, width};
  return nasbench::named_network(name, std::vector<nasbench::OperatorSpecification>{op}, "test");
}

datasets::Pool pool_of_networks() {
  datasets::Pool pool;
  pool.space = &nasbench::networks();
  for (const double speed : {1.0, 2.5, 6.0}) {
    datasets::DeviceRuntime device;
    device.id = "device" + std::to_string(pool.devices.size());
    for (std::int64_t width = 16; width < 16 * 40; width += 16) {
      datasets::Measurement row;
      row.architecture = nasbench::add_network(linear_network("linear" + std::to_string(width), width));
      row.latency_ms = speed * (0.1 + 1e-5 * static_cast<double>(width * width));
      device.latencies.push_back(row);
    }
    pool.devices.push_back(device);
  }
  return pool;
}

/// A predictor of the first device of a pool, adapted to ten of its measurements.
void write_predictor(const std::string& kind, const datasets::Pool& pool, const std::filesystem::path& file) {
  const auto model = trainer::train_pool_model(kind, pool, {}, {});
  trainer::AdaptationSet set;
  for (std::size_t i = 0; i < 10; ++i) {
    set.architectures.push_back(pool.devices[0].latencies[i].architecture);
    set.latency_ms.push_back(pool.devices[0].latencies[i].latency_ms);
  }
  trainer::save(model->adapt(set, {})->to_archive(), file);
}

class PredictorThreads : public ::testing::TestWithParam<const char*> {};

TEST_P(PredictorThreads, SeeWhatOneThreadSees) {
  const test::Folder folder;
  const std::filesystem::path file = folder.path() / "device.tenshot";
  write_predictor(GetParam(), test::synthetic_pool(60), file);
  const LatencyPredictor predictor(file);
  std::vector<std::string> texts;
  Rng rng(5);
  for (int i = 0; i < 50; ++i) texts.push_back(nasbench::nasbench201().format(nasbench::nasbench201().random(rng)));
  const std::vector<PredictedLatency> expected = predictor.predict(texts);
  run_in_threads([&](int t) {
    const LatencyPredictor own = t % 2 == 0 ? predictor : LatencyPredictor(file);
    for (int repeat = 0; repeat < 3; ++repeat) {
      const std::vector<PredictedLatency> found = own.predict(texts);
      for (std::size_t i = 0; i < texts.size(); ++i) {
        EXPECT_EQ(found[i].latency_ms, expected[i].latency_ms);
        EXPECT_TRUE(found[i].upper_ms == expected[i].upper_ms || !own.has_intervals());
      }
      EXPECT_EQ(own.predict(texts[0]), expected[0].latency_ms);
      EXPECT_THROW(own.predict("nonsense"), InputError);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Each, PredictorThreads, ::testing::Values("structured", "flops", "forest"),
                         [](const auto& kind) { return std::string(kind.param); });

TEST(NetworkThreads, ReadNetworksWhileOthersPredict) {
  const test::Folder folder;
  write_predictor("operators", pool_of_networks(), folder.path() / "board.tenshot");
  const LatencyPredictor predictor(folder.path() / "board.tenshot");
  const auto network = [](std::int64_t width) {
    return Network(
        std::make_shared<const nasbench::NamedNetwork>(linear_network("new" + std::to_string(width), width)));
  };
  const double expected = predictor.predict({network(1000)}).front().latency_ms;
  run_in_threads([&](int t) {
    for (int i = 0; i < 20; ++i) {
      EXPECT_GT(predictor.predict({network(700 + 20 * t + i)}).front().latency_ms, 0);
      EXPECT_EQ(predictor.predict({network(1000)}).front().latency_ms, expected);
    }
  });
}

TEST(LatencyPredictor, OfAFileInMemory_IsTheSameAndSaysWhereItIsFrom) {
  const test::Folder folder;
  const std::filesystem::path file = folder.path() / "device.tenshot";
  write_predictor("structured", test::synthetic_pool(60), file);
  trainer::Archive archive = trainer::load_predictor(file)->to_archive();
  trainer::Verdict kept;
  kept.trust = trainer::Trust::good;
  kept.half_width = 0.06;
  kept.measurements = 10;
  archive.card["verdict"] = trainer::to_json(kept);
  trainer::save(archive, file);
  const LatencyPredictor of_file(file), of_memory = LatencyPredictor::from_memory(read_file(file), "an upload");
  const std::string text = nasbench::nasbench201().example();
  EXPECT_EQ(of_memory.predict(text), of_file.predict(text));
  EXPECT_EQ(nlohmann::json::parse(of_memory.provenance()).at("predictor"), "structured");
  EXPECT_EQ(of_memory.verdict(), "Good: expect nine of ten predictions within ±6 % (from 10 measurements)");
  try {
    LatencyPredictor::from_memory("no predictor", "an upload");
    ADD_FAILURE() << "expected a FormatError";
  } catch (const FormatError& error) {
    EXPECT_NE(std::string(error.what()).find("an upload"), std::string::npos) << error.what();
  }
}

TEST(LatencyPredictor, SaysWhatItIs) {
  const test::Folder folder;
  write_predictor("flops", test::synthetic_pool(60), folder.path() / "device.tenshot");
  const LatencyPredictor predictor(folder.path() / "device.tenshot");
  EXPECT_EQ(predictor.kind(), "flops");
  EXPECT_EQ(predictor.space(), "nasbench201");
  ASSERT_FALSE(predictor.has_intervals());
  const std::string text = nasbench::nasbench201().example();
  EXPECT_TRUE(std::isnan(predictor.predict(std::vector{text}).front().lower_ms));
  EXPECT_THROW(predictor.predict(std::vector{text}, 1.5), InputError);
  EXPECT_THROW(predictor.predict({Network(std::make_shared<const nasbench::NamedNetwork>(linear_network("a", 8)))}),
               InputError);
  EXPECT_THROW(LatencyPredictor(folder.path() / "missing.tenshot"), FileError);
}

}  // namespace
}  // namespace tenshot
