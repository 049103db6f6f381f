#include "trainer/predictors/transfer/transfer.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "datasets/pool/describe.h"
#include "trainer/core/adaptation.h"
#include "trainer/core/nnls.h"
#include "trainer/core/pool_archive.h"
#include "trainer/core/quantity_card.h"
#include "trainer/networks/feed_forward_predictor.h"
#include "trainer/predictors/structured/library_fit.h"
#include "trainer/predictors/structured/structured_model.h"

namespace tenshot::trainer {
namespace {

using structured::LibraryEntry;
using structured::StructuredLibrary;

/// How well a device of the pool stands for the new one.
struct Proxy {
  std::size_t entry = 0;
  double spearman = -2;
  double log_rms = HUGE_VAL;  ///< of the line
  double base_ms = 0;
  double slope = 0;  ///< ms of the new device per ms of the proxy

  bool better_than(const Proxy& other) const {
    return spearman != other.spearman ? spearman > other.spearman : log_rms < other.log_rms;
  }
};

Proxy line_through(const std::vector<double>& proxy_ms, const std::vector<double>& latency_ms) {
  const auto rows = static_cast<Eigen::Index>(latency_ms.size());
  Eigen::MatrixXd points = Eigen::MatrixXd::Ones(rows, 2);
  points.col(1) = Eigen::Map<const Eigen::VectorXd>(proxy_ms.data(), rows);
  const Eigen::VectorXd line =
      relative_non_negative_least_squares(points, Eigen::Map<const Eigen::VectorXd>(latency_ms.data(), rows));
  Proxy proxy;
  proxy.base_ms = line[0];
  proxy.slope = line[1];
  proxy.spearman = datasets::spearman(proxy_ms, latency_ms);
  if (std::isnan(proxy.spearman)) proxy.spearman = -2;
  double squares = 0;
  for (std::size_t i = 0; i < latency_ms.size(); ++i) {
    const double log_error = std::log(std::max(line[0] + line[1] * proxy_ms[i], 1e-9) / latency_ms[i]);
    squares += log_error * log_error;
  }
  proxy.log_rms = std::sqrt(squares / static_cast<double>(latency_ms.size()));
  return proxy;
}

class Transfer : public ModelOfPool {
 public:
  explicit Transfer(datasets::Pool pool)
      : ModelOfPool(std::move(pool), "transfer"), library_(structured::library_of(pool_)) {}

  std::vector<std::vector<double>> predict_pool(const std::vector<Architecture>& architectures) const override {
    return structured::latencies_of_pool(library_, pool_, architectures);
  }

  std::unique_ptr<Predictor> adapt(const AdaptationSet& set, const AdaptOptions& options) const override {
    require_measurements(set, kind());
    const std::vector<std::vector<double>> pool_ms = predict_pool(set.architectures);
    Proxy best;
    for (std::size_t d = 0; d < pool_ms.size(); ++d) {
      Proxy proxy = line_through(pool_ms[d], set.latency_ms);
      proxy.entry = d;
      if (d == 0 || proxy.better_than(best)) best = proxy;
    }
    nlohmann::json card = predictor_card(*this, set, options.seed);
    card["proxy"] = {{"device", library_.entries[best.entry].device}, {"base_ms", best.base_ms}, {"slope", best.slope}};
    put_explanation(card, get_quantity(card),
                    {{"Ranks architectures as " + library_.entries[best.entry].device + " of the pool does"}});
    return structured_predictor(posterior_of(best, set), std::move(card));
  }

 private:
  /// The line through the proxy's costs as a posterior of one certain component.
  structured::StructuredPosterior posterior_of(const Proxy& proxy, const AdaptationSet& set) const {
    const LibraryEntry& entry = library_.entries[proxy.entry];
    Eigen::VectorXd costs_ms = entry.costs * (entry.median_ms * proxy.slope);
    costs_ms[0] += proxy.base_ms;
    // No process of residuals: one anchor that weighs nothing.
    const nasbench::StructureTable table = library_.model->table({set.architectures.front()});
    structured::StructuredPosterior posterior =
        structured::without_components(library_, smallest_prediction_ms(set), {table.signatures[0]});
    posterior.components.push_back({entry.structure, proxy.entry, proxy.log_rms, 1, costs_ms,
                                    structured::path_costs(entry.costs) * entry.median_ms,
                                    Eigen::MatrixXd::Zero(entry.costs.size(), entry.costs.size())});
    return posterior;
  }

  StructuredLibrary library_;
};

}  // namespace

std::unique_ptr<PoolModel> make_transfer(const datasets::Pool& pool) {
  require_devices(pool);
  return std::make_unique<Transfer>(pool);
}

}  // namespace tenshot::trainer
