#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "trainer/core/quantity_card.h"

namespace tenshot::trainer {
namespace {

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
