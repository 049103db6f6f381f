#include "nasbench/structures/structures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "nasbench/structures/cell_structures.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench {
namespace {

constexpr Operation none = Operation::none;
constexpr Operation skip = Operation::skip_connect;
constexpr Operation conv1 = Operation::nor_conv_1x1;
constexpr Operation conv3 = Operation::nor_conv_3x3;
constexpr Operation pool = Operation::avg_pool_3x3;

// Cells are written in the order of `edges`: 0>1, 0>2, 1>2, 0>3, 1>3, 2>3.

void expect_counts(const CellCounts& counts, const CellCounts& expected) {
  EXPECT_DOUBLE_EQ(counts.skip, expected.skip) << "skip";
  EXPECT_DOUBLE_EQ(counts.conv_1x1, expected.conv_1x1) << "conv_1x1";
  EXPECT_DOUBLE_EQ(counts.conv_3x3, expected.conv_3x3) << "conv_3x3";
  EXPECT_DOUBLE_EQ(counts.pool, expected.pool) << "pool";
  EXPECT_DOUBLE_EQ(counts.add, expected.add) << "add";
  EXPECT_DOUBLE_EQ(counts.relu, expected.relu) << "relu";
  EXPECT_DOUBLE_EQ(counts.multiply, expected.multiply) << "multiply";
  EXPECT_DOUBLE_EQ(counts.reorder, expected.reorder) << "reorder";
}

/// Expected counts of an uncompiled cell: skip, 1x1, 3x3, pool, add.
CellCounts eager(double skips, double small, double large, double pools, double adds) {
  return {skips, small, large, pools, adds, 0, 0, 0};
}

const Cell unused_branch = {conv3, none, pool, skip, none, none};  // node 2 leads nowhere
const Cell zero_source = {none, none, pool, skip, conv3, none};    // node 1 is zero, node 2 unused

TEST(Structures, TotalCountsEverythingWritten) { expect_counts(total_structure(unused_branch), eager(1, 0, 1, 1, 0)); }

TEST(Structures, LiveCountsPathsFromInputToOutput) {
  expect_counts(live_structure(unused_branch), eager(1, 0, 0, 0, 0));
  expect_counts(live_structure({conv1, none, none, skip, pool, none}), eager(1, 1, 0, 1, 1));
}

TEST(Structures, ForwardCountsWhatTheInputReaches) {
  expect_counts(forward_structure(unused_branch), eager(1, 0, 1, 1, 0));
  expect_counts(forward_structure(zero_source), eager(1, 0, 0, 0, 0));
}

TEST(Structures, BackwardCountsWhatReachesTheOutput) {
  expect_counts(backward_structure(unused_branch), eager(1, 0, 0, 0, 0));
  expect_counts(backward_structure(zero_source), eager(1, 0, 1, 0, 1));
  expect_counts(backward_structure({none, none, none, none, conv3, none}), eager(0, 0, 0, 0, 0));
}

TEST(Structures, BackwardPlusKeepsALoneConvolution) {
  expect_counts(backward_plus_structure({conv3, none, none, skip, none, none}), eager(1, 0, 1, 0, 0));
  // A convolution that shares its unused node with a pool is not alone.
  expect_counts(backward_plus_structure({pool, conv3, pool, skip, none, none}), eager(1, 0, 0, 0, 0));
}

TEST(Structures, FusedComputesAnOperationOfOneSourceOnce) {
  expect_counts(fused_structure({skip, none, none, pool, pool, none}), eager(1, 0, 0, 1, 0));
  expect_counts(fused_structure({conv1, none, none, pool, pool, none}), eager(0, 1, 0, 2, 1));
}

TEST(Structures, CriticalCountsEachLivePathAlone) {
  const auto paths = critical_structure({pool, none, none, conv3, pool, none});
  expect_counts(paths[0], eager(0, 0, 1, 0, 0));
  expect_counts(paths[1], eager(0, 0, 0, 2, 0));
  expect_counts(paths[2], eager(0, 0, 0, 0, 0));
  expect_counts(paths[3], eager(0, 0, 0, 0, 0));
}

TEST(Structures, HalfCriticalIsTheMeanOfPathAndLive) {
  const auto paths = half_critical_structure({pool, none, none, conv3, pool, none});
  expect_counts(paths[0], eager(0, 0, 1, 1, 0.5));
  expect_counts(paths[1], eager(0, 0, 0.5, 2, 0.5));
  expect_counts(paths[2], eager(0, 0, 0.5, 1, 0.5));
}

TEST(Structures, CseMergesPoolsReluAndMultiplicationsOfOneValue) {
  const Cell cell = {skip, pool, pool, conv1, conv3, none};
  expect_counts(cse_structure(cell), {0, 1, 1, 1, 3, 1, 1, 0});
  expect_counts(live_cse_structure(cell), {0, 1, 1, 0, 1, 1, 0, 0});
}

TEST(Structures, CseNeverMergesConvolutions) {
  expect_counts(cse_structure({conv3, conv3, skip, conv3, skip, skip}), {0, 0, 3, 0, 3, 1, 0, 0});
}

TEST(Structures, CseMergesAdditionsOfTheSameTwoValues) {
  // Node 2 = input + node 1; node 3 begins with the same sum, then adds node 2: two additions, not three.
  expect_counts(cse_structure({conv1, skip, skip, skip, skip, skip}), {0, 1, 0, 0, 2, 1, 0, 0});
}

TEST(Structures, CseKeepsZerosAsMultiplications) {
  // Every node: 0·input once for 0>1, 0>2, 0>3; 0·node 1 once for 1>2, 1>3; 0·node 2. The sum of node 2 recurs in
  // node 3.
  expect_counts(cse_structure({none, none, none, none, none, none}), {0, 0, 0, 0, 2, 0, 3, 0});
  expect_counts(live_cse_structure({none, none, none, none, none, none}), {});
}

TEST(Structures, CseFoldsAMultiplicationIntoTheConvolutionThatNothingElseReads) {
  // 0·node 1, shared by 1>2 and 1>3, goes into the weights of 0>1: left are 0·input and 0·node 2.
  expect_counts(cse_structure({conv3, none, none, skip, none, none}), {0, 0, 1, 0, 3, 1, 2, 0});
  // A pool reads node 1 too: its multiplication stays.
  expect_counts(cse_structure({conv3, none, none, skip, pool, none}), {0, 0, 1, 1, 3, 1, 3, 0});
}

TEST(Structures, InPlaceReordersWhereAMultiplicationCannotOverwrite) {
  // 0>3 reads the input after 0>2 multiplied it; nothing reads node 2 after 2>3.
  expect_counts(in_place_structure({conv3, none, skip, pool, conv1, none}), {0, 1, 1, 1, 3, 2, 2, 1});
  // Only the input is read by nothing but its multiplication; nodes 1 and 2 are added afterwards.
  expect_counts(in_place_structure({none, none, none, none, none, none}), {0, 0, 0, 0, 2, 0, 3, 2});
}

TEST(Structures, LayoutReordersWhereBlockedMeetsPlain) {
  expect_counts(layout_structure({none, none, none, conv3, none, none}), {0, 0, 1, 0, 3, 1, 3, 2});
}

TEST(Structures, LayoutFoldsAdditionsAndReluIntoConvolutions) {
  // All convolutions: every addition has a convolution of its own to go into, all tensors stay blocked. The ReLU of the
  // input folds into the previous cell's output (read by it alone), that of node 1 into its convolution, that of node 2
  // into the convolution that took the addition.
  expect_counts(layout_structure({conv3, conv3, conv3, conv3, conv3, conv3}), {0, 0, 6, 0, 0, 0, 0, 0});
}

TEST(Structures, LayoutOfPoolsPaysItsAdditions) {
  // Blocked throughout: pools of input, node 1 and node 2; 0>2 and 0>3 repeat 0>1; nothing to accumulate into.
  expect_counts(layout_structure({pool, pool, pool, pool, pool, pool}), {0, 0, 0, 3, 2, 0, 0, 0});
}

bool at_most(const CellCounts& a, const CellCounts& b) {
  return a.skip <= b.skip && a.conv_1x1 <= b.conv_1x1 && a.conv_3x3 <= b.conv_3x3 && a.pool <= b.pool && a.add <= b.add;
}

bool is_subset(EdgeSet a, EdgeSet b) { return (a & b) == a; }

TEST(StructureProperties, HoldForEveryCell) {
  for (const Architecture& architecture : nasbench201().all()) {
    const Cell cell = cell_of(architecture);
    const std::string text = nasbench201().format(architecture);
    ASSERT_EQ(live_edges(cell), forward_edges(cell) & backward_edges(cell)) << text;
    ASSERT_TRUE(is_subset(forward_edges(cell), present_edges(cell))) << text;
    ASSERT_TRUE(is_subset(backward_edges(cell), present_edges(cell))) << text;
    ASSERT_EQ(live_edges(cell) != 0, nasbench201().connected(architecture)) << text;

    const CellCounts live = live_structure(cell), total = total_structure(cell), cse = cse_structure(cell);
    ASSERT_TRUE(at_most(live, forward_structure(cell))) << text;
    ASSERT_TRUE(at_most(live, backward_structure(cell))) << text;
    ASSERT_TRUE(at_most(backward_structure(cell), backward_plus_structure(cell))) << text;
    ASSERT_TRUE(at_most(fused_structure(cell), live)) << text;
    for (const CellCounts& path : critical_structure(cell)) ASSERT_TRUE(at_most(path, live)) << text;
    for (const CellCounts& path : half_critical_structure(cell)) ASSERT_TRUE(at_most(path, live)) << text;

    ASSERT_EQ(cse.conv_1x1, total.conv_1x1) << text;
    ASSERT_EQ(cse.conv_3x3, total.conv_3x3) << text;
    ASSERT_LE(cse.pool, total.pool) << text;
    ASSERT_LE(cse.add, 3) << text;
    ASSERT_LE(cse.relu, cse.conv_1x1 + cse.conv_3x3) << text;
    const CellCounts live_cse = live_cse_structure(cell);
    ASSERT_EQ(live_cse.conv_3x3, live.conv_3x3) << text;
    ASSERT_LE(live_cse.pool, live.pool) << text;
    ASSERT_EQ(live_cse.multiply, 0) << text;
    const CellCounts in_place = in_place_structure(cell);
    ASSERT_EQ(in_place.relu, cse.relu) << text;
    ASSERT_EQ(in_place.multiply, cse.multiply) << text;
    ASSERT_LE(in_place.reorder, cse.multiply) << text;
    const CellCounts layout = layout_structure(cell);
    ASSERT_NEAR(layout.conv_3x3, cse.conv_3x3, 1e-12) << text;
    ASSERT_LE(layout.add, cse.add + 1e-12) << text;
    ASSERT_LE(layout.relu, cse.relu + 1e-12) << text;
    ASSERT_NEAR(layout.multiply, cse.multiply, 1e-12) << text;
  }
}

TEST(StructureProperties, WithoutNoneEveryRuleThatOnlyRemovesTheDeadAgrees) {
  Rng rng(3);
  for (int i = 0; i < 500; ++i) {
    Architecture architecture = nasbench201().random(rng);
    for (std::size_t e = 0; e < edge_count; ++e) {
      if (architecture[e] == 0) architecture[e] = 1 + static_cast<std::uint8_t>(rng.below(4));
    }
    const Cell cell = cell_of(architecture);
    const CellCounts live = live_structure(cell);
    expect_counts(forward_structure(cell), live);
    expect_counts(backward_structure(cell), live);
    expect_counts(backward_plus_structure(cell), live);
    expect_counts(live_cse_structure(cell), cse_structure(cell));
  }
}

TEST(StructureModel, OfNasbench201NamesTwelveStructures) {
  const StructureModel& model = structures_of(nasbench201());
  EXPECT_EQ(model.features().size(), 9u);
  EXPECT_EQ(model.features().front().name, "base");
  EXPECT_EQ(model.structures().size(), 12u);
  EXPECT_EQ(model.structures()[model.structure_index("layout")].name, "layout");
  EXPECT_THROW(model.structure_index("unheard-of"), InputError);
}

/// Evaluates few architectures one by one; many make it evaluate the whole space, once.
void expect_table_of(int count) {
  const StructureModel& model = structures_of(nasbench201());
  Rng rng(5);
  std::vector<Architecture> architectures;
  for (int i = 0; i < count; ++i) architectures.push_back(nasbench201().random(rng));
  const StructureTable table = model.table(architectures);
  const StructureTable evaluated = model.StructureModel::table(architectures);
  ASSERT_EQ(table.size, architectures.size());
  for (std::size_t s = 0; s < model.structures().size(); ++s) {
    const std::size_t values = model.structures()[s].alternatives * model.features().size();
    std::vector<double> rows(values);
    for (std::size_t a = 0; a < table.size; ++a) {
      model.evaluate(s, architectures[a], rows.data());
      EXPECT_TRUE(std::equal(rows.begin(), rows.end(), table.row(s, a)));
      EXPECT_TRUE(std::equal(rows.begin(), rows.end(), evaluated.row(s, a)));
    }
  }
  EXPECT_EQ(table.signatures, evaluated.signatures);
}

TEST(StructureModel, TableOfFewHoldsWhatTheRulesSay) { expect_table_of(20); }

TEST(StructureModel, TableOfManyHoldsWhatTheRulesSay) { expect_table_of(400); }

TEST(StructureModel, FeaturesAreZeroWhereAStructureDoesNotUseThem) {
  const StructureModel& model = structures_of(nasbench201());
  const StructureTable table = model.table(nasbench201().all());
  for (std::size_t s = 0; s < model.structures().size(); ++s) {
    const StructureTable::Column& column = table.structures[s];
    for (std::size_t f = 0; f < table.feature_count; ++f) {
      bool occurs = false;
      for (std::size_t i = f; i < column.features->size(); i += table.feature_count) {
        occurs = occurs || (*column.features)[i] != 0;
      }
      EXPECT_EQ(occurs, model.structures()[s].uses[f]) << model.structures()[s].name << ' ' << model.features()[f].name;
    }
  }
}

TEST(StructureModel, NothingRunsOfAnUnconnectedCellWhereTheDeadIsRemoved) {
  const StructureModel& model = structures_of(nasbench201());
  const Architecture unconnected = architecture_of({conv3, none, none, none, none, pool});
  std::vector<double> row(model.features().size());
  model.evaluate(model.structure_index("live"), unconnected, row.data());
  EXPECT_EQ(std::accumulate(row.begin(), row.end(), 0.0), 0);
  model.evaluate(model.structure_index("total"), unconnected, row.data());
  EXPECT_EQ(std::accumulate(row.begin(), row.end(), 0.0), 3);  // the base and two operations
}

TEST(StructureModel, SignaturesDifferByWhatAnEdgeChanges) {
  const StructureModel& model = structures_of(nasbench201());
  const StructureTable table = model.table({architecture_of({none, none, none, skip, none, none}),
                                            architecture_of({none, none, none, pool, none, none}),
                                            architecture_of({pool, none, none, skip, none, none})});
  const auto distance = [&](std::size_t a, std::size_t b) {
    return __builtin_popcountll(table.signatures[a] ^ table.signatures[b]);
  };
  EXPECT_EQ(distance(0, 0), 0);
  EXPECT_EQ(distance(0, 1), 4);  // a live edge: its operation, and its operation as a live one
  EXPECT_EQ(distance(0, 2), 2);  // a dead edge: its operation
}

}  // namespace
}  // namespace tenshot::nasbench
