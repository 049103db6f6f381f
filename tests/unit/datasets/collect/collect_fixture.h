#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "datasets/collect/collect.h"
#include "nasbench/spaces/search_space.h"
#include "nasbench/support/error.h"

namespace tenshot::datasets {

/// A runtime whose networks only let time pass, four times as much while the number of the last prepared network is in
/// [slow_from, slow_until). The sentinel is the first that is prepared.
class FakeRuntime final : public descriptor::Runtime {
 public:
  FakeRuntime(int slow_from = 0, int slow_until = 0) : slow_from_(slow_from), slow_until_(slow_until) {}

  std::string_view name() const override { return "fake"; }
  std::string_view precision() const override { return "fp32"; }
  double tolerance() const override { return 0; }
  bool follows_instruction_set() const override { return false; }
  std::string version() const override { return "fake 1"; }
  int prepared() const { return prepared_; }

 protected:
  std::unique_ptr<descriptor::PreparedNetwork> prepare(const nasbench::Network&,
                                                       const descriptor::RuntimeOptions&) const override {
    ++prepared_;
    return std::make_unique<Network>(*this);
  }

 private:
  class Network final : public descriptor::PreparedNetwork {
   public:
    explicit Network(const FakeRuntime& runtime) : runtime_(runtime) {}
    void run() override {
      const bool slow = runtime_.slow_from_ <= runtime_.prepared_ && runtime_.prepared_ < runtime_.slow_until_;
      const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(slow ? 400 : 100);
      while (std::chrono::steady_clock::now() < end) {
      }
    }
    std::vector<float> infer(const std::vector<float>&) override { return {}; }

   private:
    const FakeRuntime& runtime_;
  };

  int slow_from_, slow_until_;
  mutable int prepared_ = 0;
};

class Collect : public testing::Test {
 protected:
  Collect() {
    const testing::TestInfo& info = *testing::UnitTest::GetInstance()->current_test_info();
    options_.folder = std::filesystem::temp_directory_path() / (std::string("tenshot_collect_") + info.name());
    std::filesystem::remove_all(options_.folder);
    options_.timing.warmup_runs = 1;
    options_.timing.warmup_ms = 0;
    options_.timing.minimum_runs = 7;
    options_.timing.maximum_runs = 7;
    options_.shape.resolution = 8;
    options_.batch_size = 3;
    options_.sentinel_tolerance = 1;  // the fake's slow phase is three times as far
    options_.id = "device";
    options_.watch_contention = nullptr;  // other tests run beside this one
    for (const std::uint64_t ordinal : {15624, 3, 8000, 77, 1234, 42}) {
      options_.architectures.push_back(space_.at(ordinal));
    }
  }
  ~Collect() override { std::filesystem::remove_all(options_.folder); }

  DeviceOfSpace stored() const { return read_device(options_.folder / options_.id); }
  nlohmann::json environment() const { return nlohmann::json::parse(stored().device.environment); }

  static std::vector<Architecture> architectures_of(const DeviceRuntime& device) {
    std::vector<Architecture> result;
    for (const Measurement& row : device.latencies) result.push_back(row.architecture);
    return result;
  }

  /// Stops when `count` networks have been reported.
  static CollectProgress stop_after(int count) {
    return [count, reported = 0](std::size_t, std::size_t, const std::string&) mutable { return ++reported < count; };
  }

  template <class ErrorType>
  std::string message_of_failure(const FakeRuntime& runtime, const CollectProgress& progress = {}) {
    try {
      collect(options_, space_, runtime, progress);
    } catch (const ErrorType& error) {
      return error.what();
    }
    ADD_FAILURE() << "did not throw";
    return "";
  }

  const nasbench::SearchSpace& space_ = nasbench::nasbench201();
  CollectOptions options_;
};

}  // namespace tenshot::datasets
