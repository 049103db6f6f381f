#include "nasbench/spaces/search_space.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "nasbench/graph/network_builder.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench {
namespace {

/// A space of given decisions whose networks are as many ReLUs as the first decision says, each followed by a 1×1
/// convolution to 2 channels.
class ToySpace : public SearchSpace {
 public:
  explicit ToySpace(std::vector<int> decisions) : decisions_(std::move(decisions)) {}

  std::string_view name() const override { return "toy"; }
  const std::vector<int>& decisions() const override { return decisions_; }
  Architecture parse(std::string_view) const override { return Architecture(decisions_.size()); }
  void append_format(std::string& text, const Architecture&) const override { text += "toy"; }
  char part_separator() const override { return '+'; }
  const std::vector<std::string>& counted_operations() const override { return counted_operations_; }
  std::vector<double> operation_counts(const Architecture&) const override { return {}; }
  Network computation(const Architecture& architecture, const NetworkShape& shape, int batch) const override {
    NetworkBuilder builder;
    Source last = builder.input("input", {batch, 2, shape.resolution, shape.resolution});
    for (int i = 0; i < architecture[0]; ++i) {
      last = builder.activation("relu" + std::to_string(i), last, "relu");
      last = builder.convolution("conv" + std::to_string(i), last, 2, {same_window(1)});
    }
    builder.output(last);
    return builder.take();
  }

 private:
  std::vector<int> decisions_;
  std::vector<std::string> counted_operations_;
};

TEST(Architecture, ComparesByItsChoices) {
  const Architecture a = {0, 1, 2};
  Architecture b = {0, 1, 3};
  EXPECT_NE(a, b);
  EXPECT_TRUE(a < b);
  EXPECT_FALSE(b < a);
  b[2] = 2;
  EXPECT_EQ(a, b);
  EXPECT_EQ(ArchitectureHash()(a), ArchitectureHash()(b));
}

TEST(Architecture, OfAnotherLength_IsNeitherEqualNorEquivalent) {
  const Architecture shorter = {0};
  const Architecture longer = {0, 0};
  EXPECT_NE(shorter, longer);
  EXPECT_NE(shorter < longer, longer < shorter);
}

TEST(Architecture, WithTooManyDecisions_IsRefused) {
  const Architecture longest(Architecture::max_decisions);
  EXPECT_EQ(longest.size(), 128U);
  EXPECT_THROW(Architecture(Architecture::max_decisions + 1), InputError);
}

TEST(Architecture, IsAValueAtEveryLength) {
  for (const std::size_t decisions : {1U, 23U, 24U, 128U}) {
    Architecture a(decisions);
    for (std::size_t i = 0; i < decisions; ++i) a[i] = static_cast<std::uint8_t>(i + 1);
    const Architecture copy = a;
    EXPECT_EQ(copy, a);
    EXPECT_EQ(ArchitectureHash()(copy), ArchitectureHash()(a));
    a[decisions - 1] = 0;
    EXPECT_NE(copy, a) << "a copy shares nothing";
    EXPECT_TRUE(a < copy);
    Architecture assigned = {7};
    assigned = copy;
    EXPECT_EQ(assigned, copy);
    Architecture& self = assigned;
    assigned = self;
    EXPECT_EQ(assigned, copy);
    const Architecture moved = std::move(assigned);
    EXPECT_EQ(moved, copy);
    a = moved;
    EXPECT_EQ(a, copy);
  }
  Architecture shorter(30);
  shorter = Architecture{1, 2};
  EXPECT_EQ(shorter, (Architecture{1, 2}));
}

TEST(SearchSpace, HasNoChains_UnlessItSaysWhichOperationsItHas) {
  EXPECT_TRUE(ToySpace({2, 3}).operation_chains({}, 1).empty());
}

TEST(SearchSpace, MixedRadix_CountsWithTheLastDecisionFastest) {
  const ToySpace space({2, 3});
  EXPECT_EQ(space.size(), 6U);
  const std::vector<Architecture> expected = {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}};
  EXPECT_EQ(space.all(), expected);
  EXPECT_EQ(space.at(4), (Architecture{1, 1}));
  EXPECT_EQ(space.ordinal({1, 1}), 4U);
}

TEST(SearchSpace, OrdinalBeyondTheLast_IsRefused) {
  const ToySpace space({2, 3});
  EXPECT_NO_THROW(space.at(5));
  EXPECT_THROW(space.at(6), InputError);
  EXPECT_THROW(nasbench201().at(15625), InputError);
}

TEST(SearchSpace, LargeSpace_HasNoSizeButStillDraws) {
  const ToySpace space(std::vector<int>(22, 9));  // 9^22 > 2^64
  EXPECT_FALSE(space.size().has_value());
  EXPECT_THROW(space.all(), InputError);
  EXPECT_THROW(space.ordinal(Architecture(22)), InputError);
  EXPECT_EQ(space.at(10)[21], 1);
  EXPECT_EQ(space.at(10)[20], 1);
  Rng rng(1);
  const Architecture architecture = space.random(rng);
  for (std::size_t i = 0; i < 22; ++i) EXPECT_LT(architecture[i], 9);
}

TEST(SearchSpace, SpaceThatJustFits_HasItsSize) {
  EXPECT_EQ(ToySpace(std::vector<int>(20, 9)).size(), 12157665459056928801U);  // 9^20
}

TEST(SearchSpace, SpaceTooLargeToList_IsRefused) { EXPECT_THROW(ToySpace(std::vector<int>(8, 10)).all(), InputError); }

TEST(SearchSpace, ForeignArchitecture_IsRefused) {
  const ToySpace space({2, 3});
  std::vector<float> encoding(space.encoding_width());
  EXPECT_THROW(space.ordinal({1}), InputError);
  EXPECT_THROW(space.ordinal({1, 3}), InputError);
  EXPECT_THROW(space.encode({1, 1, 1}, encoding.data()), InputError);
  EXPECT_THROW(space.encode({2, 0}, encoding.data()), InputError);
}

TEST(SearchSpace, Encoding_IsOneHotDecisionByDecision) {
  const ToySpace space({2, 3});
  ASSERT_EQ(space.encoding_width(), 5U);
  std::vector<float> encoding(6, 7.0F);
  space.encode({1, 2}, encoding.data());
  EXPECT_EQ(encoding, (std::vector<float>{0, 1, 0, 0, 1, 7}));
}

TEST(SearchSpace, FlopCount_IsThatOfTheNetwork) {
  const ToySpace space({4, 1});
  EXPECT_EQ(space.flop_count({3, 0}, {4, 1}), 3 * 2 * 2 * 16);
}

TEST(SearchSpace, Random_IsUniformOverTheSpace) {
  const ToySpace space({2, 3});
  Rng rng(2);
  std::vector<int> counts(6);
  constexpr int draws = 60'000;
  for (int i = 0; i < draws; ++i) ++counts[space.ordinal(space.random(rng))];
  for (const int count : counts) EXPECT_NEAR(count, draws / 6.0, 500);
}

TEST(SearchSpace, Random_RepeatsWithItsSeed) {
  Rng a(3);
  Rng b(3);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(nasbench201().random(a), nasbench201().random(b));
}

TEST(NasBench201Space, OrdinalsAndArchitectures_AreOneToOne) {
  const SearchSpace& space = nasbench201();
  const std::vector<Architecture> all = space.all();
  ASSERT_EQ(all.size(), 15625U);
  ArchitectureSet distinct;
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(space.ordinal(all[i]), i);
    ASSERT_EQ(space.at(i), all[i]);
    if (i > 0) {
      ASSERT_TRUE(all[i - 1] < all[i]);
    }
    distinct.insert(all[i]);
  }
  EXPECT_EQ(distinct.size(), 15625U);
}

TEST(NasBench201Space, Encodings_AreDistinctAndHaveOneOptionAnEdge) {
  const SearchSpace& space = nasbench201();
  ASSERT_EQ(space.encoding_width(), 30U);
  std::set<std::vector<float>> distinct;
  for (const Architecture& architecture : space.all()) {
    std::vector<float> encoding(30, -1.0F);
    space.encode(architecture, encoding.data());
    for (std::size_t edge = 0; edge < 6; ++edge) {
      for (std::size_t option = 0; option < 5; ++option) {
        ASSERT_EQ(encoding[5 * edge + option], architecture[edge] == option ? 1.0F : 0.0F);
      }
    }
    distinct.insert(encoding);
  }
  EXPECT_EQ(distinct.size(), 15625U);
}

TEST(Registry, KnowsNasBench201) {
  EXPECT_EQ(&known_space("nasbench201"), &nasbench201());
  EXPECT_EQ(nasbench201().name(), "nasbench201");
}

TEST(Registry, UnknownName_IsRefusedWithTheKnownOnes) {
  try {
    known_space("nasbench-201");
    FAIL() << "an unknown space was found";
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("'nasbench-201'"), std::string::npos) << message;
    EXPECT_NE(message.find("nasbench201"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace tenshot::nasbench
