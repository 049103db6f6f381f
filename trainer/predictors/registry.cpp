#include "trainer/predictors/registry.h"

#include <algorithm>
#include <new>

#include "nasbench/structures/structures.h"
#include "nasbench/support/error.h"
#include "nasbench/support/text.h"
#include "trainer/core/archive_reader.h"
#include "trainer/core/pool_archive.h"
#include "trainer/core/quantity_card.h"
#include "trainer/core/space_card.h"
#include "trainer/networks/feed_forward_predictor.h"
#include "trainer/predictors/forest/forest_predictor.h"
#include "trainer/predictors/help/help.h"
#include "trainer/predictors/kernels/kernels_predictor.h"
#include "trainer/predictors/linear/linear_peers.h"
#include "trainer/predictors/maple_edge/maple_edge.h"
#include "trainer/predictors/operators/operators_model.h"
#include "trainer/predictors/structured/structured_model.h"

namespace tenshot::trainer {
namespace {

using Model = std::unique_ptr<PoolModel>;

/// A predictor that learns from a pool, by the settings that it declares.
template <class Settings, class Train>
PredictorRow learned(PredictorRow row, const Declaration<Settings>& declaration, [[maybe_unused]] Train train) {
  row.settings = declaration.texts();
  row.complete = [&declaration](const nlohmann::json& given) { return declaration.to_json(declaration.read(given)); };
#ifndef TENSHOT_PREDICT_ALONE
  row.train = [&declaration, train](const datasets::Pool& pool, const nlohmann::json& settings,
                                    const TrainingControl& control) -> Model {
    return train(pool, declaration.read(settings), control);
  };
#endif
  return row;
}

/// A predictor that has no settings, and is made from its pool when it is trained and when it is loaded.
template <class Make>
PredictorRow made(const char* name, const char* meaning, Make make, PredictorRow::LoadPredictor load_predictor,
                  bool needs_decisions = true) {
  PredictorRow row{name, meaning, [make](const Archive& archive) { return make(get_pool(archive)); }, load_predictor};
  row.train = [make](const datasets::Pool& pool, const nlohmann::json&, const TrainingControl&) { return make(pool); };
  row.needs_decisions = needs_decisions;
  return row;
}

PredictorRow network_row(const char* name, const char* meaning, PredictorRow::LoadModel load_model,
                         const Declaration<MapleEdgeSettings>& declaration, decltype(train_maple_edge)* train,
                         const char* richest_descriptor = "counters") {
  PredictorRow row = learned({name, meaning, load_model, load_feed_forward}, declaration, train);
  row.adapt_options = {"clones", "mode"};
  row.adapt_keys = {"clones", "mode", "ensemble"};
  row.richest_descriptor = richest_descriptor;
  return row;
}

PredictorRow linear_row(const char* name, const char* meaning, bool needs_decisions = false) {
  const auto make = [name](const datasets::Pool& pool) { return make_linear_peer(name, pool); };
  return made(name, meaning, make, load_linear_predictor, needs_decisions);
}

std::vector<PredictorRow> make_registry() {
  return {
      learned({"structured",
               "operator costs and the runtime's execution structure, with intervals (the default for nasbench201)",
               load_structured,
               load_structured_predictor,
               {"like"},
               {},
               "in-network",
               /*needs_decisions=*/true,
               /*keeps_knowledge=*/true},
              declared(StructuredSettings()),
              [](const auto& pool, const auto& settings, const auto&) { return train_structured(pool, settings); }),
      learned({"operators",
               "costs of each kind of operator, with intervals (the default for every other space)",
               load_operators,
               load_operators_predictor,
               {"like", "operators", "runtime"},
               {"profiled"},
               "counters",
               /*needs_decisions=*/false,
               /*keeps_knowledge=*/true},
              declared(OperatorsSettings()),
              [](const auto& pool, const auto& settings, const auto&) { return train_operators(pool, settings); }),
      network_row("maple-edge", "the regression network of MAPLE-Edge, taught by simulated devices",
                  load_simulated_network, simulated_options, train_simulated_network, "in-network"),
      network_row("maple-edge-plain", "the same network taught by the pool alone, as in the paper", load_maple_edge,
                  plain_options, train_maple_edge),
      network_row("maple", "that network without MAPLE-Edge's additions", load_maple_edge, maple_options,
                  train_maple_edge),
      learned({"help", "HELP's meta-learned network", load_help, load_feed_forward}, declared(HelpSettings()),
              train_help),
      made("transfer", "a line through the latencies of the pool's device-runtime that ranks most alike", make_transfer,
           load_structured_predictor),
      made("forest", "a random forest on the device's own measurements", make_forest, load_forest_predictor),
      linear_row("flops", "a line through FLOPs"),
      linear_row("flops-memory", "a line through FLOPs and bytes read and written"),
      linear_row("lasso", "a non-negative Lasso on what the operators do, on the device's own measurements"),
      linear_row("constant", "the one latency that is within ±10 % of most measurements"),
      linear_row("look-up", "the sum of the operators' own latencies and a fitted backbone", true),
      linear_row("additive", "a cost for every option, fitted to the device's own measurements by ridge regression",
                 true),
      {"kernels", "the sum of a network's kernels, learned from kernels measured on the device", nullptr,
       load_kernels_predictor},
  };
}

const PredictorRow* find_row(const std::string& name) {
  for (const PredictorRow& row : predictor_registry()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

/// What the cards of all predictors say alike, and what reports read. Throws FormatError.
void require_predictor_card(const JsonField& card) {
  card.at("space").text();
  const NetworkSpace& space = get_space(card.json());
  get_quantity(card.json());
  if (const auto measured = card.find("adaptation_set")) {
    for (const JsonField& row : measured->list()) {
      row.at("latency_ms").number(positive);
      try {
        space.parse(row.at("architecture").text());
      } catch (const InputError&) {
        row.at("architecture").fail("an architecture of " + std::string(space.name()));
      }
    }
  }
  if (const auto pool = card.find("pool")) pool->at("devices").texts();
  if (const auto verdict = card.find("verdict")) verdict->at("within_percent").number(not_negative);
  if (const auto conditions = card.find("conditions")) {
    for (const JsonField& row : conditions->list()) {
      if (row.texts(2).size() != 2) row.fail("a name and a value");
    }
  }
  const auto explanation = card.find("explanation");
  if (explanation && !explanation->json().is_string()) explanation->texts();
}

/// Runs `load` so that whatever is wrong with a card that passed its checksum names the file.
template <class Load>
auto loaded(const Archive& archive, const std::string& path, const std::vector<std::string>& contents,
            const char* made_by, Load load) {
  try {
    const JsonField card(archive);
    const std::string found = card.at("content").text();
    if (std::find(contents.begin(), contents.end(), found) == contents.end()) {
      throw FormatError("this is a " + excerpt(found) + ", expected a " + contents.front() + " (made by `" + made_by +
                        "`)");
    }
    const std::string name = card.at("predictor").text();
    const PredictorRow* row = find_row(name);
    if (row == nullptr)
      throw FormatError("predictor '" + excerpt(name) + "' is not known to this tenshot; use a newer one");
    return load(archive, *row);
  } catch (const nlohmann::json::exception& error) {
    throw FormatError(path + ": its card lacks something (" + error.what() + ")");
  } catch (const Error& error) {
    throw FormatError(path + ": " + error.what());
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw FormatError(path + ": cannot be read (" + excerpt(error.what()) + ")");
  }
}

std::unique_ptr<Predictor> predictor_of(const Archive& archive, const std::string& path) {
  return loaded(archive, path, {"predictor"}, "tenshot adapt", [](const Archive& content, const PredictorRow& row) {
    require_predictor_card(JsonField(content));
    return row.load_predictor(content);
  });
}

}  // namespace

bool PredictorRow::adapts_by(const std::string& option) const {
  return std::find(adapt_options.begin(), adapt_options.end(), option) != adapt_options.end();
}

const std::vector<PredictorRow>& predictor_registry() {
  static const std::vector<PredictorRow> registry = make_registry();
  return registry;
}

std::vector<std::string> predictor_names() {
  std::vector<std::string> names;
  for (const PredictorRow& row : predictor_registry()) {
    if (row.train != nullptr) names.push_back(row.name);
  }
  return names;
}

const PredictorRow& predictor_row(const std::string& name) {
  const PredictorRow* row = find_row(name);
  if (row != nullptr) return *row;
  throw InputError("there is no predictor '" + name + "'; there are: " + joined(predictor_names()));
}

std::string default_predictor(const nasbench::NetworkSpace& space) {
  return nasbench::has_structures(space) ? "structured" : "operators";
}

std::unique_ptr<PoolModel> train_pool_model(const std::string& name, const datasets::Pool& pool,
                                            const nlohmann::json& settings, const TrainingControl& control) {
  const PredictorRow& row = predictor_row(name);
  if (row.train == nullptr) {
    throw InputError("'" + name +
                     "' learns from kernels measured on the device, not from a pool: tenshot kernels train");
  }
  if (row.needs_decisions && pool.space != nullptr) nasbench::search_space(*pool.space);
  for (const auto& item : settings.items()) {
    const auto is_it = [&](const OptionText& option) { return option.name == item.key(); };
    if (std::any_of(row.settings.begin(), row.settings.end(), is_it)) continue;
    throw InputError("'" + name + "' has no setting '" + excerpt(item.key()) + "'");
  }
  if (pool.devices.empty()) throw InputError("the pool has no devices to train on");
  return row.train(pool, settings, control);
}

std::unique_ptr<PoolModel> load_pool_model(const std::filesystem::path& path) {
  const std::vector<std::string> contents = {"pool checkpoint", std::string(knowledge_content)};
  return loaded(load_archive(path), path.string(), contents, "tenshot train",
                [](const Archive& content, const PredictorRow& row) {
                  if (row.load_model == nullptr) throw FormatError("'" + row.name + "' has no pool checkpoints");
                  if (is_knowledge(content) && !row.keeps_knowledge) {
                    throw FormatError("'" + row.name + "' is no predictor that keeps knowledge without its pool");
                  }
                  return row.load_model(content);
                });
}

std::unique_ptr<Predictor> load_predictor(const std::filesystem::path& path) {
  return predictor_of(load_archive(path), path.string());
}

std::unique_ptr<Predictor> parse_predictor(std::string_view bytes, const std::string& name) {
  return predictor_of(Archive::parse(bytes, name), name);
}

}  // namespace tenshot::trainer
