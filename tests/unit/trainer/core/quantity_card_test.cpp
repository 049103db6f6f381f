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

}  // namespace
}  // namespace tenshot::trainer
