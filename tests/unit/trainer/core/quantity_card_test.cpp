#include "trainer/core/quantity_card.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "nasbench/support/error.h"

namespace tenshot::trainer {
namespace {

datasets::Pool pool_of(Quantity quantity) {
  datasets::Pool pool;
  pool.devices.emplace_back();
  pool.devices[0].quantity = quantity;
  return pool;
}

TEST(QuantityCard, NamesQuantityAndUnit) {
  nlohmann::json card = nlohmann::json::object();
  put_quantity(card, Quantity::memory);
  EXPECT_EQ(card, (nlohmann::json{{"quantity", "memory"}, {"unit", "MiB"}}));
  EXPECT_EQ(get_quantity(card), Quantity::memory);
}

TEST(QuantityCard, OfLatenciesSaysNothing) {
  nlohmann::json card = nlohmann::json::object();
  put_quantity(card, Quantity::latency);
  EXPECT_TRUE(card.empty());
  EXPECT_EQ(get_quantity(card), Quantity::latency);
}

TEST(QuantityCard, RefusesWhatIsNoQuantity) {
  EXPECT_THROW(get_quantity({{"quantity", "speed"}}), FormatError);
  EXPECT_THROW(get_quantity({{"quantity", 3}}), FormatError);
}

TEST(AdaptedQuantity, TakesLatenciesAsThePriorOfEveryQuantity) {
  for (const Quantity quantity : datasets::all_quantities) {
    EXPECT_EQ(adapted_quantity(pool_of(Quantity::latency), quantity), quantity);
    EXPECT_EQ(adapted_quantity(pool_of(quantity), std::nullopt), quantity);
    EXPECT_EQ(adapted_quantity(pool_of(quantity), quantity), quantity);
  }
}

TEST(AdaptedQuantity, MixesNoOthers) {
  EXPECT_THROW(adapted_quantity(pool_of(Quantity::energy), Quantity::latency), InputError);
  EXPECT_THROW(adapted_quantity(pool_of(Quantity::cold), Quantity::memory), InputError);
}

TEST(QuantityDocument, NamesWhatItHoldsByTheQuantity) {
  const nlohmann::json latencies = {{"computes", "log latency_ms = costs_ms"},
                                    {"floor_ms", 1},
                                    {"components", {{{"costs_ms", {1, 2}}, {"weight", 1}}}},
                                    {"card", {{"adaptation_set", {{{"latency_ms", 3}}}}}}};
  const nlohmann::json energies = {{"computes", "log energy_mj = costs_mj"},
                                   {"floor_mj", 1},
                                   {"components", {{{"costs_mj", {1, 2}}, {"weight", 1}}}},
                                   {"card", {{"adaptation_set", {{{"energy_mj", 3}}}}}},
                                   {"quantity", "energy"},
                                   {"unit", "mJ"}};
  EXPECT_EQ(document_of(Quantity::energy, latencies), energies);
  EXPECT_EQ(document_of(Quantity::latency, latencies), latencies);
}

TEST(Remarks, AreKeptInACardAndReadBack) {
  const std::vector<Remark> remarks = {{"Costs: add 1 ms"}, {"all latencies are 3 ms", true}};
  nlohmann::json card;
  put_explanation(card, datasets::Quantity::latency, {remarks[0]});
  put_explanation(card, datasets::Quantity::latency, {remarks[1]});
  EXPECT_EQ(card["explanation"], nlohmann::json({"Costs: add 1 ms", "Warning: all latencies are 3 ms"}));
  EXPECT_EQ(explanation_of(card), remarks);
  EXPECT_EQ(in_words(explanation_of(card)[1]), "Warning: all latencies are 3 ms");
}

TEST(Remarks, SpeakOfTheQuantity) {
  nlohmann::json card;
  put_explanation(card, datasets::Quantity::energy, {{"all latencies are 3 ms", true}});
  EXPECT_EQ(explanation_of(card)[0].text, "all energies are 3 mJ");
}

TEST(Remarks, OfACardMayBeOneSentenceOrNone) {
  EXPECT_TRUE(explanation_of(nlohmann::json::object()).empty());
  EXPECT_EQ(explanation_of({{"explanation", "As slow ranks"}}), std::vector<Remark>{{"As slow ranks"}});
}

}  // namespace
}  // namespace tenshot::trainer
