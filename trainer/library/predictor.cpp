#include "trainer/library/predictor.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "nasbench/spaces/networks.h"
#include "nasbench/support/numbers.h"
#include "trainer/core/prediction_table.h"
#include "trainer/predictors/registry.h"
#include "trainer/predictors/verdict.h"

namespace tenshot {
namespace {

std::vector<PredictedLatency> predicted(const trainer::Predictor& predictor,
                                        const std::vector<nasbench::Architecture>& architectures, double confidence) {
  if (!(confidence > 0 && confidence < 1)) {
    throw InputError("the confidence is " + shortest(confidence) + ", expected a share between 0 and 1 such as 0.9");
  }
  const trainer::Predictions found = predictor.predict(architectures, confidence);
  require_usable(found, architectures, predictor.space(), predictor.quantity());
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  std::vector<PredictedLatency> latencies;
  for (std::size_t i = 0; i < found.latency_ms.size(); ++i) {
    latencies.push_back({found.latency_ms[i], found.lower_ms.empty() ? unknown : found.lower_ms[i],
                         found.upper_ms.empty() ? unknown : found.upper_ms[i]});
  }
  return latencies;
}

}  // namespace

Network::Network(std::shared_ptr<const nasbench::NamedNetwork> content) : content_(std::move(content)) {}

const std::string& Network::name() const { return content_->name; }

LatencyPredictor::LatencyPredictor(const std::filesystem::path& file) : predictor_(trainer::load_predictor(file)) {}

LatencyPredictor::LatencyPredictor(std::unique_ptr<trainer::Predictor> predictor) : predictor_(std::move(predictor)) {}

LatencyPredictor LatencyPredictor::from_memory(std::string_view content, const std::string& name) {
  return LatencyPredictor(trainer::parse_predictor(content, name));
}

std::string LatencyPredictor::kind() const { return std::string(predictor_->kind()); }

std::string LatencyPredictor::space() const { return std::string(predictor_->space().name()); }

bool LatencyPredictor::has_intervals() const { return predictor_->has_intervals(); }

std::string LatencyPredictor::provenance() const { return predictor_->to_archive().card.dump(1); }

std::string LatencyPredictor::verdict() const {
  const auto found = trainer::kept_verdict(predictor_->to_archive());
  return found ? in_words(*found) : "";
}

double LatencyPredictor::predict(const std::string& architecture) const {
  return predict(std::vector<std::string>{architecture}).front().latency_ms;
}

std::vector<PredictedLatency> LatencyPredictor::predict(const std::vector<std::string>& architectures,
                                                        double confidence) const {
  std::vector<nasbench::Architecture> parsed;
  for (const std::string& text : architectures) parsed.push_back(predictor_->space().parse(text));
  return predicted(*predictor_, parsed, confidence);
}

std::vector<PredictedLatency> LatencyPredictor::predict(const std::vector<Network>& networks, double confidence) const {
  if (&predictor_->space() != &nasbench::networks()) {
    throw InputError("this predictor is of the space " + space() +
                     ", and files of networks need one of the space networks");
  }
  std::vector<nasbench::Architecture> identities;
  for (const Network& network : networks) identities.push_back(nasbench::add_network(network.content()));
  return predicted(*predictor_, identities, confidence);
}

}  // namespace tenshot
