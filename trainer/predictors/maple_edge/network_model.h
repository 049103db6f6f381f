#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "datasets/pool/pool.h"
#include "nasbench/support/error.h"
#include "nasbench/support/random.h"
#include "nasbench/support/text.h"
#include "trainer/core/archive_reader.h"
#include "trainer/core/options.h"
#include "trainer/core/pool_archive.h"
#include "trainer/networks/feed_forward.h"
#include "trainer/networks/regression_network.h"
#include "trainer/networks/training.h"
#include "trainer/predictors/maple_edge/maple_edge.h"

namespace tenshot::trainer {

/// The settings of a checkpoint's card, defaults for what it does not say. Throws FormatError that names the field.
MapleEdgeSettings settings_of(const Declaration<MapleEdgeSettings>& options, const JsonField& card);

/// The seed of one of the random streams of a seed.
inline std::uint64_t stream_seed(std::uint64_t seed, std::uint64_t stream) { return Rng(seed, stream).bits(); }
constexpr std::uint64_t weights_stream = 1, order_stream = 2;  ///< those of every training; others count from 3

/// A model whose predictors are regression networks: how they are trained, and the network the pool taught, if any.
class NetworkModel : public PoolModel {
 protected:
  struct TrainedNetwork {
    std::vector<DenseLayer> layers;
    double loss = 0;
  };

  NetworkModel(datasets::Pool pool, MapleEdgeSettings settings, const Declaration<MapleEdgeSettings>& options,
               Loss loss)
      : PoolModel(std::move(pool), settings.kind), settings_(std::move(settings)), options_(options), loss_(loss) {}

  nlohmann::json card_of_settings() const {
    nlohmann::json json = options_.to_json(settings_);
    json["descriptor"] = settings_.descriptor;
    json.erase("descriptor_kind");
    json.erase("seed");
    return json;
  }

  void put_learned(Archive& archive) const override {
    archive.card["settings"] = card_of_settings();
    archive.card["seed"] = settings_.fit.seed;
    if (network_.layers.empty()) return;
    archive.card["scores"]["training_loss"] = network_.loss;
    put_layers(archive, "layer", network_.layers);
  }

  /// Throws InputError that lists the modes.
  static void require_mode(const std::string& mode, const std::vector<std::string>& modes) {
    if (std::find(modes.begin(), modes.end(), mode) != modes.end()) return;
    throw InputError("there is no adaptation mode '" + mode + "'; there are: " + joined(modes));
  }

  /// A network of `width` inputs, trained on `samples` from scratch or from the pool's; training depends on `what` too.
  TrainedNetwork trained(int width, const EpochSamples& samples, FitOptions options, bool fine_tune,
                         const nlohmann::json& what, const TrainingControl& control) const {
    RegressionNetwork network(width, settings_.hidden, stream_seed(options.seed, weights_stream), loss_);
    if (fine_tune) {
      network.load(network_.layers);
      options.epochs = settings_.fine_tune_epochs;
      options.learning_rate = settings_.fine_tune_learning_rate;
    }
    options.seed = stream_seed(options.seed, order_stream);
    const double loss = fit(network, samples, options, training_fingerprint(what, pool_), control);
    return {network.layers(), loss};
  }

  /// The pool's network, of so many inputs, which are `what` in messages. Throws FormatError.
  void load_network(const Archive& archive, std::size_t inputs, const std::string& what) {
    network_.layers = get_layers(archive, "layer", inputs, what);
    network_.loss = JsonField(archive).at("scores").at("training_loss").number(not_negative);
  }

  MapleEdgeSettings settings_;
  TrainedNetwork network_;  ///< of the pool

 private:
  const Declaration<MapleEdgeSettings>& options_;
  Loss loss_;
};

}  // namespace tenshot::trainer
