#include "datasets/tables/quantity.h"

#include <gtest/gtest.h>

#include "datasets/tables/measurements.h"
#include "nasbench/support/files.h"
#include "tests/unit/datasets/fixtures.h"

namespace tenshot::datasets {
namespace {

TEST(Quantity, NamesItsColumnAndUnit) {
  EXPECT_EQ(column(Quantity::latency), "latency_ms");
  EXPECT_EQ(column(Quantity::cold), "cold_ms");
  EXPECT_EQ(column(Quantity::energy), "energy_mj");
  EXPECT_EQ(column(Quantity::memory), "memory_mib");
  EXPECT_EQ(column("lower", Quantity::memory), "lower_mib");
  EXPECT_EQ(unit(Quantity::energy), "mJ");
  for (const Quantity quantity : all_quantities) EXPECT_EQ(quantity_named(name(quantity)), quantity);
}

TEST(Quantity, RefusesAnUnknownNameAndListsTheOthers) {
  EXPECT_EQ(message_of([] { quantity_named("power"); }),
            "there is no quantity 'power'; there are: latency, cold, energy, memory");
}

TEST(Quantity, SpeaksOfItselfInSentencesAboutLatencies) {
  EXPECT_EQ(in_words_of(Quantity::energy, "costs_ms"), "costs_mj");
  EXPECT_EQ(in_words_of(Quantity::energy, "covariance_ms2"), "covariance_mj2");
  EXPECT_EQ(in_words_of(Quantity::memory, "log latency_ms = max(x, floor_ms)"), "log memory_mib = max(x, floor_mib)");
  EXPECT_EQ(in_words_of(Quantity::energy, "conv 1.2 ms ± 0.1 ms: the latencies"), "conv 1.2 mJ ± 0.1 mJ: the energies");
  EXPECT_EQ(in_words_of(Quantity::cold, "a latency of 3 ms"), "a cold latency of 3 ms");
  EXPECT_EQ(in_words_of(Quantity::cold, "Where the time of a network goes"),
            "Where the cold latency of a network goes");
  EXPECT_EQ(in_words_of(Quantity::latency, "latency_ms is a latency"), "latency_ms is a latency");
  EXPECT_EQ(in_words_of(Quantity::energy, "forms of systems_msg"), "forms of systems_msg");
}

TEST(MeasurementsOfQuantities, AreReadByTheirOwnColumns) {
  const std::string text = "architecture,latency_ms,energy_mj,stddev_mj,runs\n" + text_of(7) + ",1.5,20,0.25,9\n";
  const Measurements energies = parse_measurements(text, "m.csv", space(), Quantity::energy);
  ASSERT_EQ(energies.rows.size(), 1U);
  EXPECT_EQ(energies.rows[0].latency_ms, 20);
  EXPECT_EQ(energies.rows[0].stddev_ms, 0.25);
  EXPECT_EQ(parse_measurements(text, "m.csv", space()).rows[0].latency_ms, 1.5);
}

TEST(MeasurementsOfQuantities, NameTheColumnOfAnUnusableEntry) {
  const std::string text = "architecture,memory_mib\n" + text_of(7) + ",-3\n";
  const Measurements found = parse_measurements(text, "m.csv", space(), Quantity::memory);
  ASSERT_EQ(found.findings.total(), 1U);
  EXPECT_EQ(found.findings.first()[0].message(), "m.csv:2: column memory_mib: '-3' is negative; left out");
}

TEST(MeasurementsOfQuantities, SayWhichQuantityTheFileHoldsInstead) {
  const std::string text = "architecture,energy_mj\n" + text_of(7) + ",20\n";
  const std::string message = message_of([&] { parse_measurements(text, "m.csv", space()); });
  EXPECT_NE(message.find("m.csv"), std::string::npos) << message;
  EXPECT_NE(message.find("'latency_ms'"), std::string::npos) << message;
  EXPECT_NE(message.find("it holds energy_mj, which is --quantity energy"), std::string::npos) << message;
}

TEST(MeasurementsOfQuantities, ComeBackAsTheyWereWritten) {
  const TemporaryFolder folder;
  write_measurements(folder.path() / "m.csv", {{space().at(7), 2.5, 0.5, 3}}, space(), Quantity::energy);
  EXPECT_EQ(read_file(folder.path() / "m.csv"),
            "architecture,energy_mj,stddev_mj,runs\n" + text_of(7) + ",2.5,0.5,3\n");
  EXPECT_EQ(quantities_in({"architecture", "energy_mj", "stddev_mj", "runs"}), std::vector<Quantity>{Quantity::energy});
}

}  // namespace
}  // namespace tenshot::datasets
