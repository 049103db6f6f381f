#include "datasets/collect/collect_operators.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <numeric>

#include "nasbench/graph/network_builder.h"
#include "nasbench/support/error.h"
#include "tests/unit/datasets/fixtures.h"

namespace tenshot::datasets {
namespace {

/// Two equal convolutions with ReLUs, and a third one of other sizes.
nasbench::Network three_convolutions() {
  nasbench::NetworkBuilder builder;
  nasbench::Source x = builder.input("input", {1, 8, 16, 16});
  for (const char* name : {"a", "b", "c"}) {
    const int channels = std::string(name) == "c" ? 4 : 8;
    x = builder.convolution(name, x, channels, {nasbench::same_window(3), 1, true});
    x = builder.activation(std::string(name) + "_relu", x, "relu");
  }
  builder.output(x);
  return builder.take();
}

/// Says that every node takes its number in milliseconds, and the second one nothing; or nothing of any.
class TellingRuntime final : public descriptor::Runtime {
 public:
  explicit TellingRuntime(bool tells) : tells_(tells) {}
  std::string_view name() const override { return "telling"; }
  std::string version() const override { return "telling 1"; }
  std::string_view precision() const override { return "fp32"; }
  double tolerance() const override { return 0; }
  bool follows_instruction_set() const override { return false; }
  int prepared() const { return prepared_; }

 protected:
  class Network final : public descriptor::PreparedNetwork {
   public:
    Network(std::size_t nodes, bool tells) : nodes_(nodes), tells_(tells) {}
    void run() override {}
    std::vector<float> infer(const std::vector<float>&) override { return {}; }
    std::vector<double> run_timed() override {
      std::vector<double> ms(tells_ ? nodes_ : 0);
      std::iota(ms.begin(), ms.end(), 1.0);
      if (tells_) ms.at(1) = ms.at(3) = ms.at(5) = 0;
      return ms;
    }

   private:
    std::size_t nodes_;
    bool tells_;
  };

  std::unique_ptr<descriptor::PreparedNetwork> prepare(const nasbench::Network& network,
                                                       const descriptor::RuntimeOptions&) const override {
    ++prepared_;
    return std::make_unique<Network>(network.nodes.size(), tells_);
  }

 private:
  bool tells_;
  mutable int prepared_ = 0;
};

class CollectOperators : public testing::Test {
 protected:
  CollectOperators() {
    options_.file = folder_.path() / "operators.csv";
    options_.runs = 4;
  }

  TemporaryFolder folder_;
  CollectOperatorsOptions options_;
  std::vector<NetworkToMeasure> networks_ = {{"three", three_convolutions()}};
};

TEST_F(CollectOperators, EqualNodesOfANetworkAreOneRow) {
  const std::vector<KernelRow> rows = collect_operators(TellingRuntime(true), networks_, options_, {});
  std::map<std::string, double> latency;
  for (const KernelRow& row : rows) {
    EXPECT_EQ(row.isolation, profiled_isolation);
    EXPECT_EQ(row.purpose, "three");
    if (row.refused.empty()) latency[format(row.leading)] = row.latency_ms;
  }
  // Nodes 1 and 3 of six are equal convolutions, and take 1 and 3 ms; the last convolution takes 5.
  EXPECT_EQ(rows.size(), 4U);
  EXPECT_EQ(latency, (std::map<std::string, double>{{"convolution 3x3 bias 1x8x16x16 -> 1x8x16x16 float32", 2},
                                                    {"convolution 3x3 bias 1x8x16x16 -> 1x4x16x16 float32", 5}}));
}

TEST_F(CollectOperators, NodeWithoutATime_SaysWhy) {
  for (const KernelRow& row : collect_operators(TellingRuntime(true), networks_, options_, {})) {
    if (row.leading.kind == nasbench::OperatorKind::activation) {
      EXPECT_NE(row.refused.find("another operator"), std::string::npos) << row.refused;
    }
  }
}

TEST_F(CollectOperators, WhatIsMeasured_IsNotMeasuredAgain) {
  const TellingRuntime runtime(true);
  const std::vector<KernelRow> first = collect_operators(runtime, networks_, options_, {});
  EXPECT_EQ(runtime.prepared(), 1);
  networks_.push_back({"again", three_convolutions()});
  const std::vector<KernelRow> second = collect_operators(runtime, networks_, options_, {});
  EXPECT_EQ(runtime.prepared(), 2);
  EXPECT_EQ(second.size(), 2 * first.size());
  EXPECT_EQ(kernel_table(read_kernel_table(options_.file)), kernel_table(second));
}

TEST_F(CollectOperators, StoppedCollection_KeepsWhatItHas) {
  networks_.push_back({"second", three_convolutions()});
  const auto stop_at_second = [](std::size_t done, std::size_t, const std::string&) { return done == 0; };
  EXPECT_THROW(collect_operators(TellingRuntime(true), networks_, options_, stop_at_second), Interrupted);
  EXPECT_EQ(read_kernel_table(options_.file).size(), 4U);
}

TEST_F(CollectOperators, OfARuntimeThatDoesNotTell_AreMeasuredBetweenConvolutions) {
  const auto runtime = descriptor::make_runtime("libtorch-frozen");
  const std::vector<KernelRow> rows = collect_operators(*runtime, networks_, options_, {});
  ASSERT_EQ(rows.size(), 4U);
  for (const KernelRow& row : rows) {
    EXPECT_EQ(row.isolation, "2") << format(row.leading);
    EXPECT_GT(row.latency_ms, 0);
  }
  networks_.push_back({"again", three_convolutions()});
  EXPECT_EQ(collect_operators(*runtime, networks_, options_, {}).size(), 4U);
}

}  // namespace
}  // namespace tenshot::datasets
