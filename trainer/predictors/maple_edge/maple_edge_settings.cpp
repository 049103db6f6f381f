#include "trainer/predictors/maple_edge/maple_edge_settings.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace tenshot::trainer {
namespace {

constexpr int many = 100'000'000, most_layers = 64, widest_layer = 1'000'000;
constexpr std::int64_t most_weights = 100'000'000;  ///< between two hidden layers: 400 MB

int count_at(const CardField& settings, const char* key) {
  return static_cast<int>(settings.at(key).whole_number(1, many));
}

/// What both kinds of network have. Sets everything but what `s` says already and the card does not.
void read_common(const CardField& card, MapleEdgeSettings& s) {
  const CardField given = card.at("settings");
  s.kind = card.at("predictor").text();
  s.hidden.clear();
  for (const CardField& width : given.at("hidden").list(most_layers)) {
    const std::int64_t most =
        s.hidden.empty() ? widest_layer : std::min<std::int64_t>(widest_layer, most_weights / s.hidden.back());
    s.hidden.push_back(static_cast<int>(width.whole_number(1, most)));
  }
  s.fit.epochs = count_at(given, "epochs");
  s.fit.batch = count_at(given, "batch");
  s.fit.learning_rate = given.at("learning_rate").number(not_negative);
  s.fit.seed = static_cast<std::uint64_t>(card.at("seed").whole_number(0, std::numeric_limits<std::int64_t>::max()));
  s.default_clones = count_at(given, "default_clones");
}

}  // namespace

nlohmann::json settings_json(const MapleEdgeSettings& s) {
  return {{"hidden", s.hidden},
          {"epochs", s.fit.epochs},
          {"batch", s.fit.batch},
          {"learning_rate", s.fit.learning_rate},
          {"fine_tune_epochs", s.fine_tune_epochs},
          {"fine_tune_learning_rate", s.fine_tune_learning_rate},
          {"default_clones", s.default_clones},
          {"reference_samples", s.reference_samples},
          {"normalise", s.normalise},
          {"scale_latencies", s.scale_latencies},
          {"redraw_references", s.redraw_references},
          {"descriptor", s.descriptor}};
}

MapleEdgeSettings settings_of(const CardField& card) {
  MapleEdgeSettings s;
  read_common(card, s);
  const CardField given = card.at("settings");
  s.fine_tune_epochs = count_at(given, "fine_tune_epochs");
  s.fine_tune_learning_rate = given.at("fine_tune_learning_rate").number(not_negative);
  s.reference_samples = count_at(given, "reference_samples");
  s.normalise = given.at("normalise").boolean();
  s.scale_latencies = given.at("scale_latencies").boolean();
  s.redraw_references = given.at("redraw_references").boolean();
  s.descriptor = given.at("descriptor").text();
  return s;
}

nlohmann::json simulated_settings_json(const MapleEdgeSettings& s) {
  return {{"hidden", s.hidden},
          {"epochs", s.fit.epochs},
          {"batch", s.fit.batch},
          {"learning_rate", s.fit.learning_rate},
          {"weight_decay", s.fit.weight_decay},
          {"default_clones", s.default_clones},
          {"descriptor", s.descriptor},
          {"pretraining_epochs", s.pretraining_epochs},
          {"fine_tune_epochs", s.fine_tune_epochs},
          {"fine_tune_learning_rate", s.fine_tune_learning_rate},
          {"simulation", s.simulation}};
}

MapleEdgeSettings simulated_settings_of(const CardField& card) {
  MapleEdgeSettings s = simulated_network_settings();
  read_common(card, s);
  const CardField given = card.at("settings");
  s.simulation = simulation_options_of(given.at("simulation"));
  // Earlier releases wrote fewer settings; what a card does not say is the default.
  if (const auto v = given.find("weight_decay")) s.fit.weight_decay = v->number(not_negative);
  if (const auto v = given.find("descriptor")) s.descriptor = v->text();
  if (const auto v = given.find("pretraining_epochs")) {
    s.pretraining_epochs = static_cast<int>(v->whole_number(0, many));
  }
  if (given.find("fine_tune_epochs")) s.fine_tune_epochs = count_at(given, "fine_tune_epochs");
  if (const auto v = given.find("fine_tune_learning_rate")) s.fine_tune_learning_rate = v->number(not_negative);
  return s;
}

MapleEdgeSettings plain_settings() {
  MapleEdgeSettings settings;
  settings.kind = "maple-edge-plain";
  return settings;
}

MapleEdgeSettings simulated_network_settings() {
  MapleEdgeSettings settings;
  settings.hidden = {256, 128, 64};
  settings.fit.epochs = 10;
  settings.fit.batch = 1024;
  settings.fit.learning_rate = 2e-3;
  settings.default_clones = 1;
  settings.fine_tune_epochs = 4;
  settings.fine_tune_learning_rate = 5e-4;
  return settings;
}

MapleEdgeSettings maple_settings() {
  MapleEdgeSettings settings;
  settings.kind = "maple";
  settings.default_clones = 1;
  settings.normalise = false;
  settings.scale_latencies = false;
  settings.redraw_references = false;
  return settings;
}

}  // namespace tenshot::trainer
