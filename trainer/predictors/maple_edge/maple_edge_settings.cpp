#include "trainer/predictors/maple_edge/maple_edge_settings.h"

#include <limits>
#include <nlohmann/json.hpp>

namespace tenshot::trainer {

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
  const CardField given = card.at("settings");
  constexpr int many = 100'000'000, most_layers = 64, widest_layer = 1'000'000;
  const auto count = [&](const char* key) { return static_cast<int>(given.at(key).whole_number(1, many)); };
  MapleEdgeSettings s;
  s.kind = card.at("predictor").text();
  s.hidden.clear();
  for (const CardField& width : given.at("hidden").list(most_layers)) {
    s.hidden.push_back(static_cast<int>(width.whole_number(1, widest_layer)));
  }
  s.fit.epochs = count("epochs");
  s.fit.batch = count("batch");
  s.fit.learning_rate = given.at("learning_rate").number(not_negative);
  s.fit.seed = static_cast<std::uint64_t>(card.at("seed").whole_number(0, std::numeric_limits<std::int64_t>::max()));
  s.fine_tune_epochs = count("fine_tune_epochs");
  s.fine_tune_learning_rate = given.at("fine_tune_learning_rate").number(not_negative);
  s.default_clones = count("default_clones");
  s.reference_samples = count("reference_samples");
  s.normalise = given.at("normalise").boolean();
  s.scale_latencies = given.at("scale_latencies").boolean();
  s.redraw_references = given.at("redraw_references").boolean();
  s.descriptor = given.at("descriptor").text();
  return s;
}

MapleEdgeSettings plain_settings() {
  MapleEdgeSettings settings;
  settings.kind = "maple-edge-plain";
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
