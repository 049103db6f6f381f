#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "datasets/pool/describe.h"
#include "trainer/core/adaptation.h"
#include "trainer/core/nnls.h"
#include "trainer/core/quantity_card.h"
#include "trainer/networks/feed_forward_predictor.h"
#include "trainer/predictors/structured/library_fit.h"
#include "trainer/predictors/structured/structured_model.h"

namespace tenshot::trainer {
namespace {

/// A device of the pool, and the line from its latencies to those of the new one.
struct Proxy {
  std::size_t entry = 0;
  double base_ms = 0;
  double slope = 0;     ///< ms of the new device per ms of the proxy
  double spearman = 0;  ///< -2: none
  double log_rms = 0;   ///< of the line
};

Proxy proxy_by(std::size_t entry, const std::vector<double>& proxy_ms, const std::vector<double>& latency_ms) {
  const auto rows = static_cast<Eigen::Index>(latency_ms.size());
  Eigen::MatrixXd points = Eigen::MatrixXd::Ones(rows, 2);
  points.col(1) = Eigen::Map<const Eigen::VectorXd>(proxy_ms.data(), rows);
  const Eigen::VectorXd line =
      relative_non_negative_least_squares(points, Eigen::Map<const Eigen::VectorXd>(latency_ms.data(), rows));
  double squares = 0;
  for (std::size_t i = 0; i < latency_ms.size(); ++i) {
    const double log_error = std::log(std::max(line[0] + line[1] * proxy_ms[i], 1e-9) / latency_ms[i]);
    squares += log_error * log_error;
  }
  const double spearman = datasets::spearman(proxy_ms, latency_ms);
  return {entry, line[0], line[1], std::isnan(spearman) ? -2 : spearman,
          std::sqrt(squares / static_cast<double>(latency_ms.size()))};
}

class Transfer : public PoolModel {
 public:
  explicit Transfer(datasets::Pool pool)
      : PoolModel(std::move(pool), "transfer"), library_(structured::library_of(pool_)) {}

  std::vector<std::vector<double>> predict_pool(const std::vector<Architecture>& architectures) const override {
    return structured::latencies_of_pool(library_, pool_, architectures);
  }

  std::unique_ptr<Predictor> adapt(const AdaptationSet& set, const AdaptOptions& options) const override {
    require_measurements(set, kind());
    const std::vector<std::vector<double>> pool_ms = predict_pool(set.architectures);
    std::vector<Proxy> proxies;
    for (std::size_t d = 0; d < pool_ms.size(); ++d) proxies.push_back(proxy_by(d, pool_ms[d], set.latency_ms));
    const Proxy& best = *std::max_element(proxies.begin(), proxies.end(), [](const Proxy& a, const Proxy& b) {
      return a.spearman != b.spearman ? a.spearman < b.spearman : a.log_rms > b.log_rms;
    });
    const structured::LibraryEntry& entry = library_.entries[best.entry];
    nlohmann::json card = predictor_card(*this, set, options.seed);
    card["proxy"] = {{"device", entry.device}, {"base_ms", best.base_ms}, {"slope", best.slope}};
    put_explanation(card, get_quantity(card), {{"Ranks architectures as " + entry.device + " of the pool does"}});
    // The line through the proxy's costs as one certain component. No residuals: one anchor that weighs nothing.
    const nasbench::StructureTable table = library_.model->table({set.architectures.front()});
    structured::StructuredPosterior posterior =
        structured::without_components(library_, smallest_prediction_ms(set), {table.signatures[0]});
    Eigen::VectorXd costs_ms = entry.costs * (entry.median_ms * best.slope);
    costs_ms[0] += best.base_ms;
    posterior.components.push_back({entry.structure, best.entry, best.log_rms, 1, costs_ms,
                                    structured::path_costs(entry.costs) * entry.median_ms,
                                    Eigen::MatrixXd::Zero(entry.costs.size(), entry.costs.size())});
    return structured_predictor(std::move(posterior), std::move(card));
  }

 private:
  structured::StructuredLibrary library_;
};

}  // namespace

std::unique_ptr<PoolModel> make_transfer(const datasets::Pool& pool) { return std::make_unique<Transfer>(pool); }

}  // namespace tenshot::trainer
