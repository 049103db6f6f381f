// Checkpoints of knowledge: what was learned from a pool, without a row of it.

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>

#include "nasbench/support/error.h"
#include "tests/unit/trainer/fixtures.h"
#include "tests/unit/trainer/predictors/kept_knowledge.h"
#include "trainer/core/knowledge.h"
#include "trainer/core/predictor.h"
#include "trainer/planning/planning.h"
#include "trainer/predictors/operators/cost_library.h"
#include "trainer/predictors/registry.h"

namespace tenshot::trainer {
namespace {

using test::first_of;
using test::Kept;
using test::networks;
using test::of_cells;
using test::of_networks;
using test::through_a_file;

/// The names of an archive's arrays, as its file lists them.
std::vector<std::string> array_names(const Archive& archive) {
  const std::string bytes = archive.serialise();
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    length |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[12 + i])) << (8 * i);
  }
  const nlohmann::json card = nlohmann::json::parse(bytes.substr(20, length));
  std::vector<std::string> names;
  for (const nlohmann::json& entry : card.at("arrays")) {
    if (entry.at("type") != "uint8") names.push_back(entry.at("name"));
  }
  return names;
}

void collect_numbers(const nlohmann::json& json, std::set<double>& numbers) {
  if (json.is_number_float()) numbers.insert(json.get<double>());
  if (json.is_structured()) {
    for (const nlohmann::json& entry : json) collect_numbers(entry, numbers);
  }
}

std::set<double> numbers_in(const Archive& archive) {
  std::set<double> numbers;
  collect_numbers(archive.card, numbers);
  for (const std::string& name : array_names(archive)) {
    const std::vector<double> values = archive.numbers(name);
    numbers.insert(values.begin(), values.end());
  }
  return numbers;
}

TEST(KnowledgeArchive, HoldsNoLatencyOfThePool) {
  for (const Kept* kept : {&of_cells(), &of_networks()}) {
    const std::set<double> numbers = numbers_in(kept->archive);
    ASSERT_GT(numbers.size(), 100U);
    for (const datasets::DeviceRuntime& device : kept->pool.devices) {
      ASSERT_EQ(device.latencies.size() % 2, 1U);  // so that the median is one of them
      for (const datasets::Measurement& row : device.latencies) {
        EXPECT_EQ(numbers.count(row.latency_ms), 0U) << device.id << " " << row.latency_ms;
        EXPECT_EQ(numbers.count(static_cast<double>(static_cast<float>(row.latency_ms))), 0U);
      }
    }
    for (const char* name : {"pool.latency_ms", "pool.architectures"}) EXPECT_FALSE(kept->archive.has(name));
    EXPECT_FALSE(kept->archive.card.contains("networks"));
    for (const datasets::DeviceRuntime& device : kept->knowledge->pool().devices) {
      EXPECT_TRUE(device.latencies.empty());
    }
  }
}

TEST(KnowledgeArchive, ACheckpointWithRowsHoldsThem) {  // so that the test above can fail
  const std::set<double> numbers = numbers_in(of_networks().model->to_archive());
  EXPECT_EQ(numbers.count(of_networks().pool.devices[0].latencies[0].latency_ms), 1U);
}

Eigen::MatrixXd matrix_of(const Archive& archive, const std::string& name) {
  const std::vector<double> numbers = archive.numbers(name);
  const std::vector<std::int64_t>& shape = archive.shape(name);
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const RowMajor>(numbers.data(), shape[0], shape[1]);
}

/// The share of a pool's latencies that can be computed from an archive to 1 in 10,000: features from the networks'
/// places, costs, and residuals by undoing how the Gaussian process over the networks was solved.
double computable_share(const Archive& archive, const datasets::Pool& pool) {
  const nlohmann::json& alike = archive.card.at("similarity");
  const double length = alike.at("length"), scale = alike.at("scale"), noise = alike.at("noise");
  const Eigen::MatrixXd known = matrix_of(archive, "library.known"), costs = matrix_of(archive, "library.costs");
  const Eigen::VectorXd typical = matrix_of(archive, "similarity.typical_costs");
  const Eigen::ArrayXd total = (scale * known.rightCols(1).array()).exp();
  const Eigen::MatrixXd shares = (length * known.leftCols(known.cols() - 1)).array().square();
  Eigen::MatrixXd features = total.matrix().asDiagonal() * shares;
  for (Eigen::Index f = 0; f < features.cols(); ++f) {
    features.col(f) = typical[f] > 0 ? Eigen::VectorXd(features.col(f) / typical[f]) : Eigen::VectorXd(0 * total);
  }
  Eigen::MatrixXd system = operators::similarity(known, known);
  system.diagonal().array() += noise;
  const Eigen::MatrixXd residuals = system * matrix_of(archive, "library.known_weights");
  const Eigen::VectorXd median_ms = matrix_of(archive, "library.median_ms");
  std::size_t computed = 0, all = 0;
  for (std::size_t d = 0; d < pool.devices.size(); ++d) {
    const auto device = static_cast<Eigen::Index>(d);
    const Eigen::ArrayXd latency_ms =
        median_ms[device] * (features * costs.row(device).transpose()).array() * residuals.col(device).array().exp();
    for (const datasets::Measurement& row : pool.devices[d].latencies) {
      computed += ((latency_ms / row.latency_ms - 1).abs() < 1e-4).any() ? 1 : 0;
      ++all;
    }
  }
  return static_cast<double>(computed) / static_cast<double>(all);
}

TEST(KnowledgeArchive, NoRowOfThePoolCanBeComputedFromIt) {
  EXPECT_GT(computable_share(of_networks().model->to_archive(), of_networks().pool), 0.9);  // so that it can fail
  EXPECT_LT(computable_share(of_networks().archive, of_networks().pool), 0.05);
}

/// A library of these residuals, [networks, device-runtimes], of which the first `of_kind` are of one kind.
operators::CostLibrary with_residuals(const Eigen::MatrixXd& weights, std::size_t of_kind) {
  operators::CostLibrary library;
  library.places.typical_costs = Eigen::VectorXd::Ones(1);
  library.costs = Eigen::MatrixXd::Ones(weights.cols(), 1);
  library.known_weights = weights;
  library.kinds.resize(2);
  for (operators::DeviceKind& kind : library.kinds) kind.residual_factor = Eigen::MatrixXd::Zero(weights.rows(), 1);
  for (std::size_t d = 0; d < of_kind; ++d) library.kinds[1].members.emplace_back().device = d;
  return library;
}

/// Thirty device-runtimes of a kind share a residual, and thirty others another one that is most of theirs; each has a
/// residual of its own beside.
TEST(KnowledgeArchive, KeepsWhatAKindOfManyDeviceRuntimesHasInCommon) {
  constexpr Eigen::Index networks = 80, of_kind = 30, devices = 60;
  Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(networks, devices);
  weights.row(0).head(of_kind).setConstant(0.7);
  weights.row(1).tail(devices - of_kind).setConstant(0.9);
  for (Eigen::Index d = 0; d < devices; ++d) weights(2 + d, d) = d < of_kind ? 0.3 : 0.2;
  operators::CostLibrary library = with_residuals(weights, of_kind);
  keep_common_residuals(library);
  for (Eigen::Index d = 0; d < of_kind; ++d) {
    EXPECT_NEAR(library.known_weights(0, d), 0.7, 0.01);
    EXPECT_LT(library.known_weights(2 + d, d), 0.1);  // its own
  }
  EXPECT_NEAR(library.known_weights(1, devices - 1), 0.9, 0.01);
  EXPECT_TRUE(library.kinds[1].members.empty());
}

/// The one that is of no kind shares a residual with those of a large one. What it has alone is not kept.
TEST(KnowledgeArchive, KeepsOfADeviceRuntimeOfNoKindWhatAllHaveInCommon) {
  constexpr Eigen::Index of_kind = 30;
  Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(of_kind + 2, of_kind + 1);
  weights.row(0).setConstant(0.7);
  weights.bottomRows(of_kind + 1).diagonal().setConstant(0.7);
  operators::CostLibrary library = with_residuals(weights, of_kind);
  keep_common_residuals(library);
  EXPECT_NEAR(library.known_weights(0, of_kind), 0.7, 0.05);
  EXPECT_LT(library.known_weights(of_kind + 1, of_kind), 0.1);
}

TEST(KnowledgeArchive, PredictsThePoolAsTheModelDoes) {
  for (const Kept* kept : {&of_cells(), &of_networks()}) {
    const std::vector<Architecture> some = known_architectures(kept->pool);
    const auto expected = kept->model->predict_pool(some), found = kept->knowledge->predict_pool(some);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t d = 0; d < found.size(); ++d) {
      // what is a network's own on a single device is not kept
      for (std::size_t i = 0; i < some.size(); ++i) EXPECT_NEAR(found[d][i] / expected[d][i], 1, 0.05);
    }
  }
}

TEST(KnowledgeArchive, AdaptsAsTheModelDoes) {
  for (const Kept* kept : {&of_cells(), &of_networks()}) {
    const AdaptationSet set = first_of(kept->pool.devices[1], 10);
    const std::vector<Architecture> some = known_architectures(kept->pool);
    const Predictions expected = kept->model->adapt(set, {})->predict(some, 0.9);
    const Predictions found = kept->knowledge->adapt(set, {})->predict(some, 0.9);
    for (std::size_t i = 0; i < some.size(); ++i) EXPECT_NEAR(found.latency_ms[i] / expected.latency_ms[i], 1, 0.05);
  }
}

TEST(KnowledgeArchive, APredictorsCardNamesThePoolItWasLearnedFrom) {
  const Kept& kept = of_networks();
  const Archive predictor = kept.knowledge->adapt(first_of(kept.pool.devices[0], 5), {})->to_archive();
  EXPECT_EQ(predictor.card["pool"]["content_sha256"], datasets::content_hash(kept.pool));
  EXPECT_EQ(predictor.card["networks"]["networks"].size(), 5U);
}

TEST(KnowledgeArchive, KeepsTheSourcesAndHowWellEachDeviceIsKnown) {
  for (const Kept* kept : {&of_cells(), &of_networks()}) {
    const Knowledge* knowledge = kept->knowledge->knowledge();
    ASSERT_NE(knowledge, nullptr);
    EXPECT_EQ(kept->model->knowledge(), nullptr);
    ASSERT_EQ(knowledge->sources.size(), 1U);
    EXPECT_EQ(knowledge->sources[0].licence, "MIT");
    const OwnFits fits = kept->knowledge->own_fits();
    ASSERT_EQ(fits.devices.size(), kept->pool.devices.size());
    for (std::size_t d = 0; d < fits.devices.size(); ++d) {
      EXPECT_EQ(fits.devices[d].networks, kept->pool.devices[d].latencies.size());
      EXPECT_GE(fits.devices[d].within_10, 0.8) << kept->pool.devices[d].id;
      EXPECT_GE(fits.devices[d].within_20, fits.devices[d].within_10);
    }
  }
}

/// Their residuals are one direction, which knowledge does not keep.
TEST(KnowledgeArchive, OfDevicesThatDifferBySpeedAlone_Plans) {
  datasets::Pool pool = of_networks().pool;
  for (std::size_t d = 1; d < pool.devices.size(); ++d) {
    pool.devices[d].latencies = pool.devices[0].latencies;
    for (datasets::Measurement& row : pool.devices[d].latencies) row.latency_ms *= static_cast<double>(1 + d);
  }
  PlanRequest request;
  request.samples = 4;
  request.candidates = networks();
  EXPECT_EQ(plan(*test::kept(pool, "operators").knowledge, request).size(), 4U);
}

TEST(KnowledgeArchive, PlansAmongCellsOfItsSpaceAndAsksWhichNetworks) {
  PlanRequest request;
  request.samples = 4;
  for (const char* sampler : {"information", "targeted-uniform", "random"}) {
    request.sampler = sampler;
    EXPECT_EQ(plan(*of_cells().knowledge, request).size(), 4U) << sampler;
    try {
      plan(*of_networks().knowledge, request);
      FAIL() << sampler;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("--networks"), std::string::npos) << error.what();
    }
  }
  request.sampler = "information";
  request.candidates = networks();
  EXPECT_EQ(plan(*of_networks().knowledge, request).size(), 4U);
}

TEST(KnowledgeArchive, OfALaterVersionSaysSo) {
  Archive archive = of_networks().archive;
  archive.card["knowledge"]["version"] = 2;
  try {
    through_a_file(archive);
    FAIL();
  } catch (const FormatError& error) {
    EXPECT_NE(std::string(error.what()).find("knowledge of version 2"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("use a newer one"), std::string::npos) << error.what();
  }
}

std::string refusal(const Archive& archive) {
  try {
    through_a_file(archive);
  } catch (const FormatError& error) {
    return error.what();
  }
  return "";
}

TEST(KnowledgeArchive, WithACardThatIsNoneIsRefusedByField) {
  const auto with = [](const char* pointer, const nlohmann::json& value) {
    Archive archive = of_networks().archive;
    archive.card[nlohmann::json::json_pointer(pointer)] = value;
    return refusal(archive);
  };
  const auto expect_field = [](const std::string& message, const std::string& field) {
    EXPECT_NE(message.find(field), std::string::npos) << field << ": " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  };
  expect_field(with("/knowledge", 7), "knowledge");
  expect_field(with("/knowledge/version", -1), "knowledge.version");
  expect_field(with("/knowledge/sources", "none"), "knowledge.sources");
  expect_field(with("/knowledge/sources/0/licence", 7), "knowledge.sources[0].licence");
  expect_field(with("/pool/devices", nlohmann::json::array()), "pool.devices");
  expect_field(with("/pool/devices/0/source", 1), "pool.devices[0].source");
  expect_field(with("/pool/devices/0/id", 5), "pool.devices[0].id");
  expect_field(with("/pool/devices/1/id", "board0_cpu"), "pool.devices[1].id");
  expect_field(with("/pool/devices/0/threads", 1e300), "pool.devices[0].threads");
  expect_field(with("/scores/own_fit", nlohmann::json::object()), "scores.own_fit");
  expect_field(with("/scores/own_fit/board0_cpu", {1, 2, 3}), "scores.own_fit.board0_cpu[1]");
  expect_field(with("/scores/own_fit/board0_cpu", {1, 0.5}), "scores.own_fit.board0_cpu");
  expect_field(with("/predictor", "flops"), "'flops'");
}

TEST(KnowledgeArchive, WithNumbersThatAreNoneIsRefusedByArray) {
  for (const Kept* kept : {&of_cells(), &of_networks()}) {
    for (const std::string& name : array_names(kept->archive)) {
      if (name.find("features") == 0) continue;  // units are checked with their map
      Archive archive = kept->archive;
      const std::vector<std::int64_t> shape = archive.shape(name);
      std::vector<double> values = archive.numbers(name);
      if (values.empty()) continue;
      values.back() = std::nan("");
      archive.put(name, to_array(std::vector<float>(values.begin(), values.end()), shape));
      EXPECT_NE(refusal(archive).find(name), std::string::npos) << name << ": " << refusal(archive);
    }
  }
}

TEST(KnowledgeArchive, CutOrFlippedAnywhereIsRefused) {
  const test::Folder folder;
  const std::string bytes = of_networks().archive.serialise();
  const auto refused = [&](const std::string& altered) {
    test::write(folder.path() / "k.tenshot", altered);
    try {
      load_pool_model(folder.path() / "k.tenshot");
    } catch (const FormatError&) {
      return true;
    }
    return false;
  };
  for (std::size_t step = 1; step < 40; ++step) {
    const std::size_t at = bytes.size() * step / 40;
    EXPECT_TRUE(refused(bytes.substr(0, at))) << at;
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    EXPECT_TRUE(refused(flipped)) << at;
  }
  EXPECT_FALSE(refused(bytes));
}

}  // namespace
}  // namespace tenshot::trainer
