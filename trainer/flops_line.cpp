#include "trainer/flops_line.h"

#include <Eigen/Dense>
#include <algorithm>

#include "nasbench/support/error.h"
#include "trainer/feed_forward_predictor.h"
#include "trainer/nnls.h"
#include "trainer/pool_archive.h"

namespace tenshot::trainer {
namespace {

/// FLOPs as an exact linear function of the one-hot encoding: `base` for the first option of every decision, and what
/// each other option adds. Shape [encoding_width].
struct LinearFlops {
  double base = 0;
  std::vector<double> added;
};

double flops(const SearchSpace& space, const Architecture& architecture) {
  return static_cast<double>(nasbench::flop_count(space.network(architecture, nasbench::NetworkShape{})));
}

LinearFlops linear_flops(const SearchSpace& space) {
  const Architecture first(space.decisions().size());
  LinearFlops linear{flops(space, first), {}};
  for (std::size_t d = 0; d < space.decisions().size(); ++d) {
    for (int option = 0; option < space.decisions()[d]; ++option) {
      Architecture other = first;
      other[d] = static_cast<std::uint8_t>(option);
      linear.added.push_back(flops(space, other) - linear.base);
    }
  }
  return linear;
}

class FlopsLine : public PoolModel {
 public:
  explicit FlopsLine(datasets::Pool pool) : pool_(std::move(pool)) {}

  std::string_view kind() const override { return "flops"; }
  const datasets::Pool& pool() const override { return pool_; }

  Archive to_archive() const override { return checkpoint_archive(pool_, kind()); }

  std::vector<std::vector<double>> predict_pool(const std::vector<Architecture>& architectures) const override {
    std::vector<double> expected;
    for (const Architecture& architecture : architectures) expected.push_back(flops(*pool_.space, architecture));
    return std::vector<std::vector<double>>(pool_.devices.size(), expected);
  }

  std::unique_ptr<Predictor> adapt(const AdaptationSet& set, const AdaptOptions& options) const override {
    if (set.architectures.empty()) throw InputError("adapting a FLOPs line needs at least one measured architecture");
    const auto rows = static_cast<Eigen::Index>(set.architectures.size());
    Eigen::MatrixXd relative(rows, 2);
    for (Eigen::Index i = 0; i < rows; ++i) {
      const auto row = static_cast<std::size_t>(i);
      relative(i, 0) = 1 / set.latency_ms[row];
      relative(i, 1) = flops(*pool_.space, set.architectures[row]) * 1e-6 / set.latency_ms[row];
    }
    const Eigen::VectorXd line = non_negative_least_squares(relative, Eigen::VectorXd::Ones(rows));
    const LinearFlops linear = linear_flops(*pool_.space);
    DenseLayer layer{static_cast<int>(linear.added.size()), 1, {}, {}};
    for (const double added : linear.added) layer.weight.push_back(static_cast<float>(line[1] * 1e-6 * added));
    layer.bias.push_back(static_cast<float>(line[0] + line[1] * 1e-6 * linear.base));
    const double floor_ms = 0.05 * *std::min_element(set.latency_ms.begin(), set.latency_ms.end());
    nlohmann::json card = predictor_card(*this, set, options.seed);
    card["line"] = {{"base_ms", line[0]}, {"ms_per_mflop", line[1]}};
    return std::make_unique<FeedForwardPredictor>(FeedForward{{layer}, 1, floor_ms}, card);
  }

 private:
  datasets::Pool pool_;
};

}  // namespace

std::unique_ptr<PoolModel> make_flops_line(const datasets::Pool& pool) {
  if (pool.devices.empty()) throw InputError("the pool has no devices");
  return std::make_unique<FlopsLine>(pool);
}

std::unique_ptr<PoolModel> load_flops_line(const Archive& archive) {
  return std::make_unique<FlopsLine>(get_pool(archive));
}

}  // namespace tenshot::trainer
