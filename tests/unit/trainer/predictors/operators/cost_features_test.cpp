#include "trainer/predictors/operators/cost_features.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "nasbench/spaces/networks.h"
#include "tests/unit/trainer/predictors/operators/specifications.h"

namespace tenshot::trainer::operators {
namespace {

using nasbench::OperatorKind;
using nasbench::OperatorSpecification;
using test::convolution;

double value(const Eigen::VectorXd& features, const std::string& name) {
  for (std::size_t f = 0; f < known_feature_count(); ++f) {
    if (raw_feature_name(f) == name) return features[static_cast<Eigen::Index>(f)];
  }
  ADD_FAILURE() << "no feature " << name;
  return -1;
}

TEST(CostFeatures, OfAConvolutionAreItsCountArithmeticAndBytes) {
  // 3×3, 4 → 8 channels on 5×5: 5·5·9·4·8 = 7,200 multiply–adds; 100 and 200 numbers of 4 bytes; 288 weights.
  const Eigen::VectorXd features = raw_features({convolution(3, 1, 4, 8, 5), convolution(3, 1, 4, 8, 5)});
  EXPECT_EQ(value(features, "base"), 1);
  EXPECT_EQ(value(features, "convolution.count"), 2);
  EXPECT_EQ(value(features, "convolution.arithmetic"), 2 * 7200);
  EXPECT_EQ(value(features, "convolution.input_bytes"), 2 * 400);
  EXPECT_EQ(value(features, "convolution.output_bytes"), 2 * 800);
  EXPECT_EQ(value(features, "convolution.weight_bytes"), 2 * 1152);
  EXPECT_EQ(value(features, "depthwise_convolution.count"), 0);
}

/// A file says how numbers are kept; in which precision they are multiplied, the runtime says.
TEST(CostFeatures, OfNarrowNumbersAreThoseOfFloats) {
  const OperatorSpecification floats = convolution(3, 1, 4, 8, 5);
  for (const nasbench::ElementType type : {nasbench::ElementType::int8, nasbench::ElementType::uint8,
                                           nasbench::ElementType::float16, nasbench::ElementType::int16}) {
    OperatorSpecification narrow = floats;
    narrow.type = type;
    EXPECT_EQ(raw_features({narrow}).head(static_cast<Eigen::Index>(raw_feature_count())),
              raw_features({floats}).head(static_cast<Eigen::Index>(raw_feature_count())));
    EXPECT_EQ(tree_features(narrow), tree_features(floats));
    EXPECT_LT(raw_features({narrow})[static_cast<Eigen::Index>(all_weights_feature())],
              raw_features({floats})[static_cast<Eigen::Index>(all_weights_feature())])
        << "a smaller file is read sooner";
  }
  OperatorSpecification packed = floats, wide = floats;
  packed.weight_bits = 4;
  wide.type = nasbench::ElementType::float64;
  EXPECT_EQ(value(raw_features({packed}), "convolution.weight_bytes"), 144)
      << "runtimes read packed weights as they are";
  EXPECT_EQ(value(raw_features({wide}), "convolution.weight_bytes"), 2304);
}

TEST(CostFeatures, OfTensorsBeyond32MiBAreTheBytesThatAreWritten) {
  // 64 channels of 512×512 floats are 64 MiB; of 256×256 they are 16.
  const Eigen::VectorXd features = raw_features({convolution(3, 1, 64, 64, 512), convolution(3, 1, 64, 64, 256)});
  EXPECT_EQ(value(features, "network.large_bytes"), 64 << 20);
  const auto large = nasbench::add_network(nasbench::named_network("large", {convolution(3, 1, 64, 64, 512)}, "test"));
  const auto small = nasbench::add_network(nasbench::named_network("small", {convolution(3, 1, 64, 64, 256)}, "test"));
  const auto& networks = nasbench::networks();
  EXPECT_EQ(make_feature_map(networks, {small, large}).raw.back(), large_bytes_feature());
  EXPECT_NE(make_feature_map(networks, {small}).raw.back(), large_bytes_feature()) << "no network of the pool has any";
  EXPECT_EQ(make_feature_map(networks, {large}, datasets::Quantity::cold).raw.back(), all_weights_feature());
}

TEST(CostFeatures, TellConvolutionsApartByKernelAndGroups) {
  const Eigen::VectorXd features =
      raw_features({convolution(1, 1, 8, 8, 4), convolution(3, 8, 8, 8, 4), convolution(3, 2, 8, 8, 4)});
  EXPECT_EQ(value(features, "convolution_1x1.count"), 1);
  EXPECT_EQ(value(features, "depthwise_convolution.count"), 1);
  EXPECT_EQ(value(features, "grouped_convolution.count"), 1);
  EXPECT_EQ(value(features, "convolution.count"), 0);
}

TEST(CostFeatures, RecurrentLayersAreNoLinearOnes) {
  // 12 steps of 40 inputs and 64 units, four gates: 12 · 256 · (40 + 64) = 319,488 multiply–adds.
  OperatorSpecification lstm;
  lstm.kind = OperatorKind::opaque;
  lstm.name = "LSTM";
  lstm.inputs = {{12, 1, 40}};
  lstm.constants = {{1, 256, 40}, {1, 256, 64}};
  lstm.output = {12, 1, 1, 64};
  const Eigen::VectorXd features = raw_features({lstm});
  EXPECT_EQ(value(features, "recurrent.count"), 1);
  EXPECT_EQ(value(features, "recurrent.arithmetic"), 319'488);
  EXPECT_EQ(value(features, "linear.count"), 0);
}

TEST(CostFeatures, WindowBytesAreThoseOfAllPositions) {
  // 3×3 windows at 5×5 positions, 4 channels of 4 bytes each, whatever the groups.
  const double bytes = 25 * 9 * 4 * 4;
  EXPECT_EQ(value(raw_features({convolution(3, 1, 4, 8, 5)}), "convolution.window_bytes"), bytes);
  EXPECT_EQ(value(raw_features({convolution(3, 2, 4, 8, 5)}), "grouped_convolution.window_bytes"), bytes);
}

TEST(CostFeatures, WindowsThatRepeatOtherMeasuresHaveNoBytes) {
  EXPECT_EQ(value(raw_features({convolution(1, 1, 4, 8, 5)}), "convolution_1x1.window_bytes"), 0);
  EXPECT_EQ(value(raw_features({convolution(1, 2, 4, 8, 5)}), "grouped_convolution.window_bytes"), 0);
  EXPECT_EQ(value(raw_features({convolution(3, 4, 4, 4, 5)}), "depthwise_convolution.window_bytes"), 0);
}

TEST(CostFeatures, ArithmeticOfLargeDepthwiseWindowsIsCountedApart) {
  const auto of = [](int kernel, int groups) {
    return value(raw_features({convolution(kernel, groups, 4, 4, 5)}), "depthwise_convolution.large_window_arithmetic");
  };
  EXPECT_EQ(of(3, 4), 0);
  EXPECT_EQ(of(5, 4), 25 * 25 * 4);
  EXPECT_EQ(of(5, 1), 0);
}

TEST(CostFeatures, PaddingCountsAsAConcatenation) {
  OperatorSpecification pad;
  pad.kind = OperatorKind::pad;
  pad.inputs = {{1, 2, 8, 8}};
  pad.output = {1, 2, 10, 10};
  const Eigen::VectorXd features = raw_features({pad});
  EXPECT_EQ(value(features, "concatenation.count"), 1);
  EXPECT_EQ(value(features, "concatenation.output_bytes"), 4 * 200);
  EXPECT_EQ(value(features, "data_movement.count"), 0);
}

TEST(CostFeatures, CountAPoolsWindowAsArithmetic) {
  OperatorSpecification pool;
  pool.kind = OperatorKind::max_pool;
  pool.kernel = {3, 3};
  pool.inputs = {{1, 2, 8, 8}};
  pool.output = {1, 2, 4, 4};
  EXPECT_EQ(value(raw_features({pool}), "pool.arithmetic"), 2 * 4 * 4 * 9);
}

TEST(CostFeatures, OfATableThatIsLookedUpAreTheRowsThatAreRead) {
  OperatorSpecification words;
  words.kind = OperatorKind::opaque;
  words.name = "Gather";
  words.inputs = {{1, 30}};
  words.constants = {{50000, 128}};
  words.output = {1, 30, 128};
  const Eigen::VectorXd features = raw_features({words});
  EXPECT_EQ(value(features, "opaque.input_bytes"), 4 * 30);
  EXPECT_EQ(value(features, "opaque.weight_bytes"), 4 * 30 * 128);
  // A start reads the whole file.
  EXPECT_EQ(features[static_cast<Eigen::Index>(all_weights_feature())], 4.0 * 50000 * 128);
  words.inputs = {{1, 197, 768}};  // the first of computed rows
  words.constants.clear();
  words.output = {1, 768};
  EXPECT_EQ(value(raw_features({words}), "opaque.input_bytes"), 4 * 768);
}

TEST(CostFeatures, OfATypeThatNobodyMeasuredAreThoseOfDataMovement) {
  const std::vector<std::size_t>& stand_ins = stand_in_groups(operator_group_index([] {
    OperatorSpecification top;
    top.kind = OperatorKind::opaque;
    top.name = "TopK";
    return top;
  }()));
  EXPECT_EQ(operator_group_name(stand_ins.front()), "data_movement");
}

TEST(CostFeatures, OfAReshapeAreNone) {
  OperatorSpecification reshape;
  reshape.kind = OperatorKind::reshape;
  reshape.inputs = {{1, 2, 8, 8}};
  reshape.output = {1, 128};
  const Eigen::VectorXd features = raw_features({reshape});
  EXPECT_EQ(features.sum(), 1);  // the base alone
}

nasbench::Architecture network(const std::string& name, const std::vector<OperatorSpecification>& operators) {
  return nasbench::add_network(nasbench::named_network(name, operators, "test"));
}

/// A feature of a network by its name, times its unit.
double feature_of(const FeatureMap& map, const nasbench::Architecture& architecture, const std::string& name) {
  const Eigen::VectorXd row = feature_table(map, nasbench::networks(), {architecture}).rows().row(0);
  for (std::size_t f = 0; f < map.features(); ++f) {
    if (map.name(f) == name) return row[static_cast<Eigen::Index>(f)] * map.unit[static_cast<Eigen::Index>(f)];
  }
  ADD_FAILURE() << "no feature " << name;
  return -1;
}

/// The features of starts.
class StartFeatures : public ::testing::Test {
 protected:
  double of(const nasbench::Architecture& architecture, const std::string& name) const {
    return feature_of(map, architecture, name);
  }
  nasbench::Architecture twice = network("twice", {convolution(3, 1, 4, 8, 5), convolution(3, 1, 8, 8, 5)});
  nasbench::Architecture mixed = network("mixed", {convolution(3, 1, 4, 8, 5), convolution(3, 8, 8, 8, 5)});
  FeatureMap map = make_feature_map(nasbench::networks(), {twice, mixed}, datasets::Quantity::cold);
};

TEST_F(StartFeatures, CountTheFirstUseOfAGroupOnce) {
  EXPECT_TRUE(map.of_starts());
  EXPECT_DOUBLE_EQ(of(twice, "convolution.count"), 2);
  EXPECT_DOUBLE_EQ(of(twice, "convolution.first_use"), 1);
  EXPECT_DOUBLE_EQ(of(twice, "depthwise_convolution.first_use"), 0);
  EXPECT_DOUBLE_EQ(of(mixed, "depthwise_convolution.first_use"), 1);
}

TEST_F(StartFeatures, SumTheWeightsOfAllGroups) {
  EXPECT_DOUBLE_EQ(of(twice, "network.weight_bytes"), 4 * (9 * 4 * 8 + 9 * 8 * 8));
  EXPECT_DOUBLE_EQ(of(mixed, "network.weight_bytes"), 4 * (9 * 4 * 8 + 9 * 8));
  for (std::size_t f = 0; f < map.features(); ++f) EXPECT_NE(map.name(f), "convolution.weight_bytes");
}

TEST_F(StartFeatures, KnowOfAGroupItsCountAndItsArithmeticAlone) {
  EXPECT_DOUBLE_EQ(of(twice, "convolution.arithmetic"), 25 * (9 * 4 * 8 + 9 * 8 * 8));
  for (std::size_t f = 0; f < map.features(); ++f) {
    EXPECT_EQ(map.name(f).find("put_bytes"), std::string::npos) << map.name(f);
  }
}

TEST_F(StartFeatures, OfAnUnknownGroupAreThoseOfTheGroupThatStandsIn) {
  const nasbench::Architecture grouped = network("grouped", {convolution(3, 2, 8, 8, 5), convolution(3, 2, 8, 8, 5)});
  EXPECT_DOUBLE_EQ(of(grouped, "convolution.first_use"), 1);
  EXPECT_DOUBLE_EQ(of(grouped, "convolution.count"), 2);
  const FeatureTable without = feature_table(map, nasbench::networks(), {grouped}, UnknownOperators::left_out);
  const Eigen::VectorXd row = without.rows().row(0);
  for (std::size_t f = 1; f + 1 < map.features(); ++f) EXPECT_EQ(row[static_cast<Eigen::Index>(f)], 0) << map.name(f);
}

TEST_F(StartFeatures, AreNotThoseOfInferences) {
  const FeatureMap inference = make_feature_map(nasbench::networks(), {twice, mixed});
  EXPECT_FALSE(inference.of_starts());
  for (std::size_t f = 0; f < inference.features(); ++f)
    EXPECT_EQ(inference.name(f).find("first_use"), std::string::npos);
}

/// An operator of no kind of ours that keeps one number for each of its inputs'.
OperatorSpecification opaque(const std::string& type) {
  OperatorSpecification operation;
  operation.kind = OperatorKind::opaque;
  operation.name = type;
  operation.inputs = {{1, 8, 5, 5}};
  operation.output = {1, 8, 5, 5};
  return operation;
}

/// Networks of bytes are common, and devices have kernels of their own for them.
TEST(CostFeatures, ProductsOfBytesAreUnknownToADeviceThatMeasuredProductsOfFloats) {
  OperatorSpecification of_bytes = convolution(3, 1, 4, 8, 5);
  of_bytes.type = nasbench::ElementType::int8;
  OperatorSpecification moved = of_bytes;
  moved.kind = OperatorKind::max_pool;
  const nasbench::Architecture floats = network("of floats", {convolution(3, 1, 4, 8, 5)});
  const nasbench::Architecture bytes = network("of bytes", {of_bytes, moved});
  const std::vector<std::string> named = {"convolution: of 8 bits", "pool"};
  FeatureMap map = make_feature_map(nasbench::networks(), {floats});
  EXPECT_EQ(unknown_groups(map, nasbench::networks(), bytes), named);
  EXPECT_TRUE(unknown_groups(map, nasbench::networks(), floats).empty());

  FeatureMap of_both = make_feature_map(nasbench::networks(), {floats, bytes});
  EXPECT_TRUE(unknown_groups(of_both, nasbench::networks(), bytes).empty());
  tell_measured(of_both, unusual_operators(nasbench::networks(), floats));
  EXPECT_EQ(unknown_groups(of_both, nasbench::networks(), bytes), std::vector<std::string>{named[0]})
      << "other devices' costs do not tell bytes from floats";
  tell_measured(map, unusual_operators(nasbench::networks(), bytes));
  EXPECT_EQ(unknown_groups(map, nasbench::networks(), bytes), std::vector<std::string>{named[1]});

  map.unusual.clear();  // a file of an earlier version, or a device that executes networks in bytes
  EXPECT_EQ(unknown_groups(map, nasbench::networks(), bytes), std::vector<std::string>{named[1]});
}

TEST(CostFeatures, CubicResizingIsUnknownToADeviceThatMeasuredOtherResizing) {
  OperatorSpecification nearest = opaque("");
  nearest.kind = OperatorKind::resize;
  OperatorSpecification cubic = nearest;
  cubic.name = "cubic";
  const nasbench::Architecture known = network("nearest", {nearest}), asked = network("cubic", {cubic});
  const FeatureMap map = make_feature_map(nasbench::networks(), {known});
  EXPECT_TRUE(unknown_groups(map, nasbench::networks(), known).empty());
  EXPECT_EQ(unknown_groups(map, nasbench::networks(), asked), std::vector<std::string>{"data_movement: cubic resize"});
  EXPECT_TRUE(
      unknown_groups(make_feature_map(nasbench::networks(), {known, asked}), nasbench::networks(), asked).empty());
}

TEST(CostFeatures, AnOperatorOfATypeThatNobodyMeasuredCountsAsWhatIsMostLikeIt) {
  OperatorSpecification sum = opaque("");
  sum.kind = OperatorKind::add;
  sum.inputs.push_back(sum.inputs[0]);
  const nasbench::Architecture known = network("known type", {convolution(3, 1, 4, 8, 5), opaque("LRN"), sum});
  const nasbench::Architecture other = network("new type", {convolution(3, 1, 4, 8, 5), opaque("Atan")});
  FeatureMap map = make_feature_map(nasbench::networks(), {known});
  const auto of = [&map](const auto& architecture, const char* name) { return feature_of(map, architecture, name); };
  EXPECT_EQ(of(known, "opaque.count"), 1);
  EXPECT_EQ(of(other, "opaque.count"), 0);
  EXPECT_EQ(of(other, "elementwise.count"), 1);
  EXPECT_EQ(of(other, "elementwise.input_bytes"), 4 * 8 * 5 * 5);
  EXPECT_EQ(unknown_groups(map, nasbench::networks(), other), std::vector<std::string>{"opaque: Atan"});
  map.unmeasured = {"opaque: LRN"};  // on the known device that is predicted
  EXPECT_EQ(of(known, "opaque.count"), 0);
  EXPECT_EQ(of(known, "elementwise.count"), 2);
  map.unmeasured.clear();
  map.unusual.clear();  // as in files of earlier versions
  EXPECT_EQ(of(other, "opaque.count"), 1);
}

TEST(CostFeatures, AFunctionThatNoMeasuredNetworkHasIsUnknown) {
  const auto activation = [](const char* function) {
    OperatorSpecification operation = opaque(function);
    operation.kind = OperatorKind::activation;
    return operation;
  };
  const nasbench::Architecture relu = network("relu", {activation("relu")}),
                               silu = network("silu", {activation("silu")});
  const std::vector<std::string> named = {"activation: silu"};
  FeatureMap map = make_feature_map(nasbench::networks(), {relu});
  EXPECT_EQ(unknown_groups(map, nasbench::networks(), silu), named);
  EXPECT_TRUE(unknown_groups(map, nasbench::networks(), network("clip", {activation("clip")})).empty());
  map = make_feature_map(nasbench::networks(), {relu, silu});
  EXPECT_TRUE(unknown_groups(map, nasbench::networks(), silu).empty());
  tell_measured(map, unusual_operators(nasbench::networks(), relu));
  EXPECT_EQ(unknown_groups(map, nasbench::networks(), silu), named) << "a device has kernels of its own for it";
  EXPECT_TRUE(unknown_groups(map, nasbench::networks(), relu).empty());
  map.unusual.erase(told_functions);  // as in files of earlier versions
  EXPECT_TRUE(unknown_groups(map, nasbench::networks(), silu).empty());
}

TEST(CostFeatures, ANormThatNobodyMeasuredCountsAsWhatMovesItsNumbers) {
  OperatorSpecification softmax = opaque(""), batch_norm = opaque(""), sum = opaque("");
  softmax.kind = OperatorKind::softmax;
  batch_norm.kind = OperatorKind::batch_norm;
  sum.kind = OperatorKind::concatenate;
  const nasbench::Architecture known = network("batch norm", {batch_norm, sum}), asked = network("softmax", {softmax});
  const FeatureMap map = make_feature_map(nasbench::networks(), {known});
  EXPECT_EQ(feature_of(map, asked, "normalisation.count"), 0);
  EXPECT_EQ(feature_of(map, asked, "concatenation.count"), 1);
  EXPECT_EQ(unknown_groups(map, nasbench::networks(), asked), std::vector<std::string>{"normalisation: softmax"});
}

TEST(FeatureTable, MultipliesSumsOfBlocks) {
  FeatureTable table;
  table.blocks.resize(3, 2);
  table.blocks << 1, 0, 0, 2, 3, 1;
  table.block_of = {0, 1, 2, 1};
  table.begin = {0, 3, 4};
  Eigen::MatrixXd weights(2, 2);
  weights << 1, 10, 2, 20;
  const Eigen::MatrixXd expected = (Eigen::MatrixXd(2, 2) << 4 + 6, 40 + 60, 4, 40).finished();
  EXPECT_TRUE(table.times(weights).isApprox(expected));
  EXPECT_TRUE((table.rows() * weights).isApprox(expected));
}

}  // namespace
}  // namespace tenshot::trainer::operators
