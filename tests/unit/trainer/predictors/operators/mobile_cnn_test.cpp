#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "mobile_cnn_table.h"
#include "nasbench/support/random.h"
#include "trainer/predictors/operators/cost_planning.h"

namespace tenshot::trainer::operators {
namespace {

using Eigen::Index;

/// Shares of networks predicted within 10 %, mean over device-runtimes, in percent.
struct Accuracy {
  double cpu = 0;
  double gpu = 0;
};

std::string phone_of(const std::string& device) { return device.substr(0, device.find('_')); }

Eigen::MatrixXd picked(const Eigen::MatrixXd& matrix, const std::vector<Index>& rows) {
  Eigen::MatrixXd part(static_cast<Index>(rows.size()), matrix.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) part.row(static_cast<Index>(i)) = matrix.row(rows[i]);
  return part;
}

/// Both the phone and half of the networks are new: ten of the other half are measured.
class NewPhone {
 public:
  NewPhone(const MobileCnns& table, const std::string& phone, std::uint64_t seed) : table_(table) {
    std::vector<Index> order(table.networks.size());
    std::iota(order.begin(), order.end(), Index{0});
    Rng rng(seed);
    rng.shuffle(order);
    const auto half = order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2);
    known_ = {order.begin(), half};
    new_ = {half, order.end()};
    for (std::size_t d = 0; d < table.devices.size(); ++d) {
      (phone_of(table.devices[d]) == phone ? tested_ : pool_).push_back(static_cast<Index>(d));
    }
  }

  void add_to(Accuracy& sums, int& cpus, int& gpus) const {
    const Eigen::MatrixXd features = in_units_of_mean(table_.features);
    PoolNumbers pool{picked(features, known_), static_cast<std::size_t>(features.cols()),
                     picked(picked(table_.latency_ms, pool_).transpose(), known_).transpose()};
    const CostLibrary library = fit_library(pool);
    std::vector<std::size_t> candidates(known_.size());
    std::iota(candidates.begin(), candidates.end(), std::size_t{0});
    const PlanningView view = prior_view(library, pool.features);
    Rng rng(7);
    const auto chosen = sampling::choose_informative(view.covariance, candidates, 10, rng, view.options);
    const FeatureTable unknown = table_of(picked(features, new_));
    for (const Index device : tested_) {
      AdaptationFeatures set;
      std::vector<Index> rows;
      for (const std::size_t c : chosen) {
        rows.push_back(known_[c]);
        set.latency_ms.push_back(table_.latency_ms(device, known_[c]));
      }
      set.features = picked(features, rows);
      const LogLatency predicted = predict(adapt(library, set), unknown);
      int hits = 0;
      for (std::size_t i = 0; i < new_.size(); ++i) {
        const double ratio = std::exp(predicted.mean[static_cast<Index>(i)]) / table_.latency_ms(device, new_[i]);
        if (std::abs(ratio - 1) <= 0.1) ++hits;
      }
      const bool gpu = table_.devices[static_cast<std::size_t>(device)].find("gpu") != std::string::npos;
      (gpu ? sums.gpu : sums.cpu) += 100.0 * hits / static_cast<double>(new_.size());
      ++(gpu ? gpus : cpus);
    }
  }

 private:
  const MobileCnns& table_;
  std::vector<Index> known_, new_, pool_, tested_;
};

TEST(MobileCnns, NewNetworksOnANewPhoneArePredictedFromTenOthers) {
  const char* tables = std::getenv("TENSHOT_TABLES");
  if (tables == nullptr) {
    GTEST_SKIP() << "set TENSHOT_TABLES to a folder with mobile-cnn/ (github.com/qed-usc/mobile-ml-benchmark)";
  }
  const MobileCnns table = read_mobile_cnns(std::filesystem::path(tables) / "mobile-cnn");
  ASSERT_EQ(table.networks.size(), 102U);
  ASSERT_EQ(table.devices.size(), 68U);
  Accuracy sums;
  int cpus = 0, gpus = 0;
  for (const char* phone : {"pixel4", "s10", "mi8se", "iphonexs"}) {
    for (std::uint64_t split = 0; split < 2; ++split) NewPhone(table, phone, split).add_to(sums, cpus, gpus);
  }
  EXPECT_EQ(cpus, 2 * 64);
  EXPECT_EQ(gpus, 2 * 4);
  EXPECT_GT(sums.cpu / cpus, 82);
  EXPECT_GT(sums.gpu / gpus, 65);
}

}  // namespace
}  // namespace tenshot::trainer::operators
