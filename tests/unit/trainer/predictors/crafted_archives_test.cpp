// Checkpoints and predictors whose checksum is right and whose numbers are not: each is refused by the name of the
// field.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "nasbench/spaces/search_space.h"
#include "nasbench/support/error.h"
#include "tests/unit/trainer/fixtures.h"
#include "tests/unit/trainer/predictors/operators/made_up_pool.h"
#include "trainer/core/prediction_table.h"
#include "trainer/predictors/registry.h"
#include "trainer/trees/tree_ensemble.h"

namespace tenshot::trainer {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Some predictors learn from what networks execute, which NAS-Bench-201 does not say.
bool learns_from_operators(const std::string& name) { return name == "operators" || name == "lasso"; }

datasets::Pool pool_for(const std::string& name) {
  if (!learns_from_operators(name)) return test::synthetic_pool(40);
  const SearchSpace& space = nasbench::search_space(nasbench::known_space("fbnet"));
  Rng rng(3);
  std::vector<Architecture> architectures;
  for (int i = 0; i < 40; ++i) architectures.push_back(space.random(rng));
  return test::pool_of(space, architectures);
}

AdaptationSet measurements(const std::string& name) {
  AdaptationSet set;
  if (learns_from_operators(name)) {
    const std::vector<datasets::Measurement> rows = pool_for(name).devices[0].latencies;
    for (std::size_t i = 0; i < 12; ++i) {
      set.architectures.push_back(rows[i].architecture);
      set.latency_ms.push_back(rows[i].latency_ms);
    }
    return set;
  }
  for (const datasets::Measurement& row : test::synthetic_device("new", 5, 1.0, 0.01, 12, 9).latencies) {
    set.architectures.push_back(row.architecture);
    set.latency_ms.push_back(row.latency_ms);
  }
  return set;
}

/// What a predictor writes: its pool checkpoint and, adapted to a dozen measurements, its predictor.
struct Written {
  Archive checkpoint;
  Archive predictor;
};

/// Trained for no longer than it takes to have something to write.
std::unique_ptr<PoolModel> trained(const std::string& name) {
  const datasets::Pool pool = pool_for(name);
  nlohmann::json settings = nlohmann::json::object();
  if (name == "help") settings = {{"episodes", 1}, {"adaptation_steps", 1}};
  if (predictor_row(name).adapts_by("clones")) settings = {{"hidden", {8}}, {"epochs", 2}, {"fine_tune_epochs", 1}};
  return train_pool_model(name, pool, settings, {});
}

const Written& written(const std::string& name) {
  static std::map<std::string, Written> all;
  const auto found = all.find(name);
  if (found != all.end()) return found->second;
  const auto model = trained(name);
  AdaptOptions options;
  if (name == "maple-edge-plain" || name == "maple") options.mode = "fine-tune";
  return all[name] = {model->to_archive(), model->adapt(measurements(name), options)->to_archive()};
}

/// What loading says of the archive; "" when it is accepted.
std::string refusal(const Archive& archive) {
  const test::Folder folder;
  save(archive, folder.path() / "x.tenshot");
  try {
    if (archive.card.at("content") == "predictor") {
      load_predictor(folder.path() / "x.tenshot");
    } else {
      load_pool_model(folder.path() / "x.tenshot");
    }
  } catch (const FormatError& error) {
    return error.what();
  }
  return "";
}

void expect_refusal(const Archive& archive, const std::string& field) {
  const std::string message = refusal(archive);
  EXPECT_NE(message.find("x.tenshot: "), std::string::npos) << field << ": '" << message << "'";
  EXPECT_NE(message.find(field), std::string::npos) << field << ": '" << message << "'";
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

Archive with_double(Archive archive, const std::string& array, std::size_t index, double value) {
  std::vector<double> values = archive.doubles(array);
  const std::vector<std::int64_t> shape = archive.shape(array);
  values.at(index) = value;
  archive.put(array, to_array(values, shape));
  return archive;
}

Archive with_float(Archive archive, const std::string& array, std::size_t index, float value) {
  std::vector<float> values = archive.floats(array);
  const std::vector<std::int64_t> shape = archive.shape(array);
  values.at(index) = value;
  archive.put(array, to_array(values, shape));
  return archive;
}

/// A number more or less than there should be.
Archive with_size(Archive archive, const std::string& array, int more) {
  std::vector<double> values = archive.doubles(array);
  values.resize(values.size() + static_cast<std::size_t>(more), 0.5);
  archive.put(array, to_array(values, {static_cast<std::int64_t>(values.size())}));
  return archive;
}

Archive with_card(Archive archive, const std::string& pointer, const nlohmann::json& value) {
  archive.card[nlohmann::json::json_pointer(pointer)] = value;
  return archive;
}

/// Every predictor that learns from a pool; forests are made where XGBoost is there.
std::vector<std::string> kinds() {
  std::vector<std::string> names = predictor_names();
  if (!has_xgboost()) names.erase(std::remove(names.begin(), names.end(), "forest"), names.end());
  return names;
}

TEST(CraftedFiles, AreReadWhereNothingIsChanged) {
  for (const std::string& kind : kinds()) {
    EXPECT_EQ(refusal(written(kind).checkpoint), "") << kind;
    EXPECT_EQ(refusal(written(kind).predictor), "") << kind;
  }
}

/// What a file says of its arrays: a list of {"name", "type", "shape"}.
nlohmann::json arrays_of(const Archive& archive) {
  const std::string bytes = archive.serialise();
  constexpr std::size_t length_at = 12, card_at = 20;
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data() + length_at, sizeof length);
  return nlohmann::json::parse(bytes.substr(card_at, length)).at("arrays");
}

/// Whether a value of the array may be unknown, which is written as NaN.
bool may_be_unknown(const std::string& array) { return array == "pool.latency_ms" || array == "library"; }

TEST(CraftedFiles, WithANumberThatIsNoneInAnyArrayAreRefused) {
  for (const std::string& kind : kinds()) {
    for (const Archive* archive : {&written(kind).checkpoint, &written(kind).predictor}) {
      for (const nlohmann::json& array : arrays_of(*archive)) {
        const std::string name = array.at("name"), type = array.at("type");
        if (type == "uint8") continue;
        const std::size_t size = type == "float64" ? archive->doubles(name).size() : archive->floats(name).size();
        if (size == 0) continue;
        SCOPED_TRACE(kind + ", " + name);
        for (const std::size_t index : {std::size_t{0}, size / 2, size - 1}) {
          for (const double bad : {nan, infinity, -infinity}) {
            if (std::isnan(bad) && may_be_unknown(name)) continue;
            expect_refusal(type == "float64" ? with_double(*archive, name, index, bad)
                                             : with_float(*archive, name, index, static_cast<float>(bad)),
                           name);
          }
        }
      }
    }
  }
}

/// The paths of all numbers under `json`, which stands at `path`.
void add_numbers(const nlohmann::json& json, const nlohmann::json::json_pointer& path,
                 std::vector<nlohmann::json::json_pointer>& found) {
  if (json.is_number()) found.push_back(path);
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) add_numbers(value, path / key, found);
  }
  if (json.is_array() && !json.empty()) add_numbers(json.back(), path / (json.size() - 1), found);
}

TEST(CraftedFiles, WithASettingThatIsOfNoUseAreRefused) {
  for (const std::string& kind : kinds()) {
    const Archive& checkpoint = written(kind).checkpoint;
    if (!checkpoint.card.contains("settings")) continue;
    std::vector<nlohmann::json::json_pointer> settings;
    add_numbers(checkpoint.card.at("settings"), nlohmann::json::json_pointer("/settings"), settings);
    EXPECT_FALSE(settings.empty()) << kind;
    for (const auto& setting : settings) {
      for (const nlohmann::json& bad :
           {nlohmann::json("much"), nlohmann::json::array({1}), nlohmann::json(-1e301), nlohmann::json()}) {
        SCOPED_TRACE(kind + ", " + setting.to_string());
        const bool of_list = std::isdigit(static_cast<unsigned char>(setting.back().front())) != 0;
        expect_refusal(with_card(checkpoint, setting.to_string(), bad),
                       of_list ? setting.parent_pointer().back() : setting.back());
      }
    }
  }
}

TEST(CraftedFiles, WithArraysOfAnotherSizeAreRefused) {
  for (const char* array : {"components", "residual", "calibration.quantiles"}) {
    expect_refusal(with_size(written("structured").predictor, array, 1), array);
    expect_refusal(with_size(written("structured").predictor, array, -1), array);
  }
  for (const int more : {1, -1})
    expect_refusal(with_size(written("structured").checkpoint, "library", more), "library");
  expect_refusal(with_size(written("structured").checkpoint, "pool.latency_ms", -1), "pool.latency_ms");
  if (!has_xgboost()) return;
  expect_refusal(with_size(written("forest").predictor, "forest.nodes", 4), "forest.nodes");
  expect_refusal(with_size(written("forest").predictor, "forest.nodes", -4), "forest.sizes");
}

TEST(CraftedFiles, OfStructuredNameWhatIsOutOfRange) {
  const Archive& predictor = written("structured").predictor;
  expect_refusal(with_double(predictor, "components", 0, -0.5), "components[0].weight");
  expect_refusal(with_double(predictor, "components", 0, 0), "the sum of the weights");
  expect_refusal(with_double(predictor, "components", 1, -1), "components[0].noise");
  expect_refusal(with_double(predictor, "components", 2, nan), "components[0].costs_ms");
  expect_refusal(with_double(predictor, "components", 11, -1), "components[0].path_costs_ms");
  expect_refusal(with_double(predictor, "components", 20, -1), "components[0].covariance_ms2");
  expect_refusal(with_double(predictor, "residual", 0, 0), "floor_ms");
  expect_refusal(with_double(predictor, "residual", 1, -1), "variance");
  expect_refusal(with_card(predictor, "/components/0/structure", "imagined"), "imagined");
  expect_refusal(with_card(predictor, "/components/0/entry", -1), "components[0].entry is -1");
  expect_refusal(with_card(predictor, "/components/0/entry", 1e300), "components[0].entry");
  expect_refusal(with_card(predictor, "/anchors", 1 << 30), "anchors");
  expect_refusal(with_card(predictor, "/anchors", -1), "anchors");
  const Archive& checkpoint = written("structured").checkpoint;
  expect_refusal(with_double(checkpoint, "library", 1, -5), "library[0].median_ms");
  expect_refusal(with_double(checkpoint, "library", 2, -5), "library[0].costs");
  expect_refusal(with_card(checkpoint, "/settings/newton_steps", 1e300), "newton_steps");
  expect_refusal(with_card(checkpoint, "/settings/noises", nlohmann::json::array()), "noises");
  expect_refusal(with_card(checkpoint, "/settings/kept", -1), "kept");
}

TEST(CraftedFiles, WithACalibrationThatIsNoneAreRefused) {
  // Three devices calibrate nothing by themselves: the file gets one.
  Archive predictor = written("structured").predictor;
  const auto calibrated = [&](const std::vector<double>& probabilities) {
    const auto size = static_cast<std::int64_t>(probabilities.size());
    predictor.put("calibration.probabilities", to_array(probabilities, {size}));
    predictor.put("calibration.quantiles", to_array(std::vector<double>(probabilities.size(), 0.5), {size}));
    return predictor;
  };
  EXPECT_EQ(refusal(calibrated({0.1, 0.5, 0.9})), "");
  for (const std::vector<double>& bad : std::vector<std::vector<double>>{
           {nan, nan, nan}, {0.1, nan, 0.9}, {0.9, 0.1}, {0.1, 0.1, 0.9}, {0, 0.9}, {0.1, 1}, {0.6, 0.9}, {0.1, 0.5}}) {
    expect_refusal(calibrated(bad), "calibration.probabilities");
  }
}

TEST(CraftedFiles, WithAPoolThatIsNoneAreRefused) {
  const Archive& checkpoint = written("flops").checkpoint;
  for (const double bad : {0.0, -1.0, infinity}) {
    expect_refusal(with_double(checkpoint, "pool.latency_ms", 3, bad), "pool.latency_ms");
  }
  Archive foreign = checkpoint;
  std::vector<std::uint8_t> choices = foreign.bytes("pool.architectures");
  choices[7] = 200;
  foreign.put("pool.architectures", to_array(choices, foreign.shape("pool.architectures")));
  expect_refusal(foreign, "pool.architectures");
  expect_refusal(with_card(checkpoint, "/pool/devices", nlohmann::json::array()), "pool.devices");
  expect_refusal(with_card(checkpoint, "/pool/devices/1/id", checkpoint.card.at("/pool/devices/0/id"_json_pointer)),
                 "pool.devices[1].id");
  expect_refusal(with_card(checkpoint, "/space", "elsewhere"), "elsewhere");
  expect_refusal(with_card(checkpoint, "/predictor", 7), "predictor is 7");
  EXPECT_LT(refusal(with_card(checkpoint, "/space", std::string(1 << 20, 'x'))).size(), 500U);
  EXPECT_LT(refusal(with_card(checkpoint, "/predictor", std::string(1 << 20, 'x'))).size(), 500U);
}

TEST(CraftedFiles, OfNetworksNameWhatIsOutOfRange) {
  const Archive& predictor = written("flops").predictor;
  for (const char* field : {"scale_ms", "floor_ms"}) {
    for (const nlohmann::json& bad :
         {nlohmann::json(-1), nlohmann::json(0), nlohmann::json("much"), nlohmann::json()}) {
      expect_refusal(with_card(predictor, std::string("/") + field, bad), field);
    }
  }
  Archive transposed = predictor;
  transposed.put("layer0.weight", to_array(predictor.floats("layer0.weight"), {30, 1}));
  expect_refusal(transposed, "layer0");
  const Archive& network = written("maple-edge-plain").checkpoint;
  expect_refusal(with_card(network, "/settings/epochs", 0), "settings.epochs is 0");
  expect_refusal(with_card(network, "/settings/hidden", {8, 8}), "settings.hidden");
  expect_refusal(with_card(network, "/settings/hidden", {1 << 30}), "settings.hidden[0]");
  expect_refusal(with_card(network, "/settings/normalise", "yes"), "settings.normalise");
  expect_refusal(with_double(network, "descriptor.deviation", 0, -1), "descriptor.deviation");
  const Archive& simulated = written("maple-edge").checkpoint;
  expect_refusal(with_card(simulated, "/settings/hidden", {2'000'000'000}), "settings.hidden[0] is 2000000000");
  expect_refusal(with_card(simulated, "/settings/hidden", {1'000'000, 1'000'000}), "settings.hidden[1] is 1000000");
  expect_refusal(with_card(simulated, "/settings/epochs", 2.5), "settings.epochs is 2.5");
  expect_refusal(with_card(simulated, "/settings/default_clones", 1LL << 40), "settings.default_clones");
  expect_refusal(with_card(simulated, "/settings/simulation/rows", 1LL << 40), "settings.simulation.rows");
  expect_refusal(with_card(simulated, "/settings/simulation/cost_spreads", {"wide"}), "simulation.cost_spreads[0]");
  expect_refusal(with_card(simulated, "/settings/simulation/acceptance", 0), "settings.simulation.acceptance is 0");
  expect_refusal(with_card(simulated, "/seed", -1), "seed is -1");
  expect_refusal(with_card(written("help").checkpoint, "/settings/support", 0), "settings.support");
  expect_refusal(with_card(written("help").checkpoint, "/settings/adaptation_steps", 1e9), "settings.adaptation_steps");
}

Archive forest_of(const std::vector<double>& nodes) {
  Archive archive = written("forest").predictor;
  const auto count = static_cast<std::int64_t>(nodes.size() / 4);
  archive.put("forest.sizes", to_array(std::vector<double>{static_cast<double>(count)}, {1}));
  archive.put("forest.nodes", to_array(nodes, {count, 4}));
  return archive;
}

TEST(CraftedFiles, WithAForestOfOneLongChainAreRefused) {
  if (!has_xgboost()) GTEST_SKIP() << "forests are trained by XGBoost: install libxgboost-dev";
  std::vector<double> chain;
  constexpr int length = 200'000;
  for (int i = 0; i < length; ++i) {
    chain.insert(chain.end(), {0, static_cast<double>(2 * i + 1), static_cast<double>(2 * i + 2), 0});
    chain.insert(chain.end(), {-1, static_cast<double>(2 * i + 1), static_cast<double>(2 * i + 1), 0});
  }
  chain.insert(chain.end(), {-1, 2.0 * length, 2.0 * length, 0});
  expect_refusal(forest_of(chain), "forest.nodes");
}

TEST(CraftedFiles, WithAForestThatIsNoForestAreRefused) {
  if (!has_xgboost()) GTEST_SKIP() << "forests are trained by XGBoost: install libxgboost-dev";
  const std::vector<double> leaf = {-1, 0, 0, 1};
  EXPECT_EQ(refusal(forest_of(leaf)), "");
  EXPECT_EQ(refusal(forest_of({0, 1, 2, 0, -1, 1, 1, 1, -1, 2, 2, 1})), "");
  expect_refusal(forest_of({-1, 0, 0, nan}), "'forest.nodes'[3] is nan");
  expect_refusal(forest_of({-1, 0, 0, 1e6}), "value");                               // whose exponential is infinite
  expect_refusal(forest_of({0, 0, 0, 1}), "forest.nodes");                           // its own child
  expect_refusal(forest_of({0, 1, 1, 1, -1, 1, 1, 1}), "two parents");               // a path for each of 2ⁿ ways
  expect_refusal(forest_of({30, 1, 2, 0, -1, 1, 1, 1, -1, 2, 2, 1}), "feature 30");  // of 30, which begin with 0
  expect_refusal(forest_of({0.5, 1, 2, 0, -1, 1, 1, 1, -1, 2, 2, 1}), "whole number");
  expect_refusal(forest_of({-1, 0, 0, 1, -1, 1, 1, 1}), "no parent");
  expect_refusal(forest_of({0, 1, 9, 0, -1, 1, 1, 1}), "child");
}

TEST(CraftedFiles, WithACardThatIsNoneAreRefused) {
  const Archive& predictor = written("structured").predictor;
  expect_refusal(with_card(predictor, "/explanation", {1, 2}), "explanation[0]");
  expect_refusal(with_card(predictor, "/adaptation_set/0/latency_ms", -3), "adaptation_set[0].latency_ms is -3");
  expect_refusal(with_card(predictor, "/adaptation_set/0/architecture", "resnet18"), "adaptation_set[0].architecture");
  expect_refusal(with_card(predictor, "/pool/devices", 7), "pool.devices is 7");
}

TEST(Predictions, ThatAreNoLatenciesAreNotWritten) {
  const test::Folder folder;
  const std::vector<Architecture> two = {nasbench::nasbench201().at(0), nasbench::nasbench201().at(1)};
  const auto write = [&](const Predictions& predictions) {
    write_predictions(folder.path() / "p.csv", two, predictions, nasbench::nasbench201());
  };
  EXPECT_NO_THROW(write({{1, 2}, {0.5, 1}, {2, 300}}));
  EXPECT_THROW(write({{1, 2}, {0.5, 1}, {2, infinity}}), InputError);
  for (const double bad : {nan, infinity, 0.0, -1.0}) EXPECT_THROW(write({{1, bad}, {}, {}}), InputError);
  EXPECT_THROW(write({{1, 2}, {0.5, nan}, {2, 3}}), InputError);
}

}  // namespace
}  // namespace tenshot::trainer
