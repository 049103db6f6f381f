#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "structured_fixtures.h"
#include "trainer/predictors/structured/explanation.h"
#include "trainer/predictors/structured/hypotheses.h"
#include "trainer/predictors/structured/posterior.h"
#include "trainer/predictors/structured/structured_planning.h"

namespace tenshot::trainer::structured {
namespace {

using nasbench::Architecture;
using test::accuracy;
using test::predictions;

const std::vector<double> total_costs = {7, 0.4, 3, 9, 1.2, 0, 0, 0, 0};
const std::vector<double> live_costs = {7, 0.4, 3, 9, 1.2, 0.5, 0, 0, 0};
const std::vector<double> critical_costs = {6, 0.4, 4, 7, 1.5, 0, 0, 0, 0};

AdaptationSet measured(const std::string& structure, const std::vector<double>& costs, std::size_t count,
                       double noise) {
  AdaptationSet set;
  set.architectures = test::connected_architectures(count, 41);
  set.latency_ms = test::latencies_under(structure, costs, set.architectures, noise);
  return set;
}

CostPriors priors_under(const StructuredPosteriorOptions& options) {
  const StructuredLibrary& library = test::synthetic_library();
  return {library, options, nullptr, library_covariance(library), library.entries.size()};
}

/// The likeliest candidate of exactly `structure`, after enough steps that nothing moves.
HypothesisFit converged_candidate(const StructureProblem& problem, const CostPriors& priors,
                                  const std::string& structure) {
  const std::size_t index = problem.library.model->structure_index(structure);
  for (const HypothesisFit& candidate : fitted_candidates(problem, priors, 400)) {
    if (candidate.structure == index) return candidate;
  }
  return {};
}

TEST(CalibrationOfMany, IsAsWideAsWhatNoStructureExplains) {
  const StructuredLibrary& library = test::synthetic_library();
  AdaptationSet odd = measured("live", live_costs, 40, 0.01);
  const auto width = [&](const AdaptationSet& set) {
    const IntervalCalibration found = calibration_of_many(library, set, {}, nullptr);
    return error_quantile(found, 0.95) - error_quantile(found, 0.05);
  };
  const double usual = error_quantile(library.calibration, 0.95) - error_quantile(library.calibration, 0.05);
  for (std::size_t i = 0; i < odd.latency_ms.size(); i += 4) odd.latency_ms[i] *= 1.6;
  EXPECT_GT(width(odd), 1.5 * usual);
  AdaptationSet reversed = odd;
  std::reverse(reversed.architectures.begin(), reversed.architectures.end());
  std::reverse(reversed.latency_ms.begin(), reversed.latency_ms.end());
  EXPECT_NEAR(width(reversed), width(odd), 1e-9);
  EXPECT_EQ(width(measured("live", live_costs, 19, 0.01)), usual) << "the calibration is of ten";
}

TEST(SolveSparse, AgreesWithTheExactSolutionWhereEveryMeasurementIsAnAnchor) {
  StructuredPosteriorOptions options;
  options.newton_steps = 60;
  const CostPriors priors = priors_under(options);
  for (const bool whole_milliseconds : {false, true}) {
    AdaptationSet set = measured("live", live_costs, 30, 0.04);
    set.latency_ms[7] *= 1.5;
    set.whole_milliseconds = whole_milliseconds;
    const StructureProblem exact = make_problem(test::synthetic_library(), set, options);
    const HypothesisFit candidate = converged_candidate(exact, priors, "live");
    ASSERT_GT(candidate.solution.pull.size(), 0);
    const SparseProblem problem = make_sparse_problem(test::synthetic_library(), set, options, 30);
    const CostGaussian& prior = priors.at(candidate.structure, candidate.entry);
    const Eigen::VectorXd costs = posterior_costs(prior, candidate);
    SparseFit fit;
    fit.structure = candidate.structure;
    fit.entry = candidate.entry;
    fit.closeness = candidate.closeness;
    fit.level = candidate.level;
    fit.scale_ms = candidate.scale_ms;
    fit.costs_ms = 1.05 * costs;
    solve_sparse(problem, prior, fit);
    EXPECT_NEAR(fit.log_evidence, candidate.log_evidence, 1e-5);
    EXPECT_LT((fit.costs_ms - costs).norm(), 1e-5 * costs.norm());
    // The process at an architecture that was not measured.
    const auto other = test::connected_architectures(5, 1234);
    for (const auto& architecture : other) {
      const auto table = test::structures().table({architecture});
      double exact_mean = 0, sparse_mean = 0;
      for (Eigen::Index i = 0; i < 30; ++i) {
        exact_mean +=
            candidate.solution.residual_weights[i] * likeness(exact.table.signatures[i], table.signatures[0], 16);
        sparse_mean += fit.anchor_weights[i] * likeness(problem.anchors[i], table.signatures[0], 16);
      }
      EXPECT_NEAR(sparse_mean, exact_mean, 1e-6);
    }
  }
}

TEST(ManyMeasurements, UpToFortyEveryHypothesisSeesThemAll) {
  const AdaptationSet set = measured("live", live_costs, 40, 0.03);
  const StructuredPosteriorOptions options;
  const CostPriors priors = priors_under(options);
  const StructuredPosterior exact = adapt_exactly(test::synthetic_library(), priors, set, options);
  const StructuredPosterior adapted = adapt(test::synthetic_library(), set);
  const auto architectures = test::connected_architectures(200, 8);
  EXPECT_EQ(predictions(adapted, architectures), predictions(exact, architectures));
  EXPECT_EQ(adapted.anchors.size(), 40U);
}

/// Root mean square difference.
double rms(const Eigen::VectorXd& a, const Eigen::VectorXd& b) { return std::sqrt((a - b).squaredNorm() / a.size()); }

TEST(ManyMeasurements, AreAsGoodAsTheExactWay) {
  const StructuredPosteriorOptions options;
  const CostPriors priors = priors_under(options);
  const std::vector<std::pair<std::string, std::vector<double>>> kinds = {
      {"total", total_costs}, {"live", live_costs}, {"critical", critical_costs}};
  const auto architectures = test::connected_architectures(300, 8);
  const auto table = test::structures().table(architectures);
  for (const auto& [structure, costs] : kinds) {
    const std::vector<double> ms = test::latencies_under(structure, costs, architectures);
    const Eigen::VectorXd truth =
        Eigen::Map<const Eigen::VectorXd>(ms.data(), static_cast<Eigen::Index>(ms.size())).array().log();
    const AdaptationSet set = measured(structure, costs, 90, 0.04);
    const LogLatency exact = predict(adapt_exactly(test::synthetic_library(), priors, set, options), table);
    const LogLatency many = predict(adapt_to_many(test::synthetic_library(), priors, set, options), table);
    EXPECT_LT(rms(many.mean, exact.mean), 0.02) << structure;  // half of the noise
    EXPECT_LT(rms(many.mean, truth), 1.1 * rms(exact.mean, truth)) << structure;
    EXPECT_LT(rms(many.deviation, exact.deviation), 0.004) << structure;
  }
}

TEST(ManyMeasurements, NameTheStructureAndTheNoise) {
  const std::vector<std::pair<std::string, std::vector<double>>> kinds = {
      {"total", total_costs},
      {"live", live_costs},
      {"layout", {6, 0, 4, 7, 1.5, 0.5, 0.5, 0.4, 1}},
      {"critical", critical_costs}};
  for (const auto& [structure, costs] : kinds) {
    const AdaptationSet set = measured(structure, costs, 700, 0.03);
    const StructuredPosterior posterior = adapt(test::synthetic_library(), set);
    EXPECT_EQ(posterior.model->structures()[believed_structures(posterior).front().first].name, structure);
    EXPECT_LE(test::percent_of_noise(set, posterior), 3);
    EXPECT_GT(accuracy(posterior, structure, costs), 0.99) << structure;
  }
}

TEST(ManyMeasurements, AreTheSameInAnyOrder) {
  AdaptationSet set = measured("total", total_costs, 300, 0.05);
  const auto architectures = test::connected_architectures(100, 8);
  const auto before = predictions(adapt(test::synthetic_library(), set), architectures);
  std::reverse(set.architectures.begin(), set.architectures.end());
  std::reverse(set.latency_ms.begin(), set.latency_ms.end());
  EXPECT_EQ(predictions(adapt(test::synthetic_library(), set), architectures), before);
}

TEST(ManyMeasurements, OneInThirtyMayBeWrong) {
  AdaptationSet set = measured("live", live_costs, 600, 0.03);
  for (std::size_t i = 0; i < set.latency_ms.size(); i += 30) set.latency_ms[i] *= i % 60 == 0 ? 5 : 0.3;
  const StructuredPosterior posterior = adapt(test::synthetic_library(), set);
  EXPECT_GT(accuracy(posterior, "live", live_costs), 0.99);
  const std::vector<std::string> found = test::suspicions(set, posterior);
  ASSERT_EQ(found.size(), 11U);  // ten are named
  EXPECT_EQ(found.back(), "10 more measurements are as far from what the others suggest");
}

TEST(ManyMeasurements, AllOfTheSpaceLeaveAPosteriorThatIsSmall) {
  AdaptationSet set;
  set.architectures = nasbench::nasbench201().all();
  set.latency_ms = test::latencies_under("total", total_costs, set.architectures, 0.03);
  const StructuredPosterior posterior = adapt(test::synthetic_library(), set);
  EXPECT_GT(accuracy(posterior, "total", total_costs), 0.999);
  Archive archive;
  put_posterior(archive, posterior);
  EXPECT_LT(archive.serialise().size(), 150'000U);
}

TEST(ManyMeasurements, WithoutAResidualProcessTheCostsStandAlone) {
  StructuredPosteriorOptions options;
  options.residual_share = 0;
  const StructuredPosterior posterior =
      adapt(test::synthetic_library(), measured("live", live_costs, 200, 0.02), options);
  EXPECT_GT(accuracy(posterior, "live", live_costs), 0.99);
  EXPECT_EQ(posterior.residual_weights, Eigen::VectorXd::Zero(1));
}

TEST(ManyMeasurements, OfNetworksThatAllComputeNothingAreAnsweredToo) {
  AdaptationSet set;
  for (const auto& architecture : nasbench::nasbench201().all()) {
    if (nasbench::nasbench201().connected(architecture)) continue;
    set.architectures.push_back(architecture);
    set.latency_ms.push_back(3 + 0.01 * static_cast<double>(set.latency_ms.size() % 7));
    if (set.latency_ms.size() == 60) break;
  }
  ASSERT_EQ(set.latency_ms.size(), 60U);
  for (const double latency :
       predictions(adapt(test::synthetic_library(), set), test::connected_architectures(100, 6))) {
    EXPECT_TRUE(std::isfinite(latency) && latency > 0);
  }
}

TEST(StructuredPrediction, AfterManyMeasurementsDoesNotDependOnCompany) {
  const StructuredPosterior posterior = adapt(test::synthetic_library(), measured("live", live_costs, 150, 0.05));
  ASSERT_GT(posterior.residual_weights.size(), 40);
  const auto architectures = test::connected_architectures(130, 12);
  const auto together = test::intervals(posterior, test::structures().table(architectures), 0.9);
  for (std::size_t i = 0; i < architectures.size(); ++i) {
    const auto alone = test::intervals(posterior, test::structures().table({architectures[i]}), 0.9);
    EXPECT_EQ(alone.latency_ms[0], together.latency_ms[i]);
    EXPECT_EQ(alone.upper_ms[0], together.upper_ms[i]);
  }
}

TEST(CompactedTable, KeepsTheRowsOfItsArchitectures) {
  const auto table = test::structures().table(test::connected_architectures(50, 3));
  const auto compact = compacted(table);
  for (std::size_t s = 0; s < table.structures.size(); ++s) {
    EXPECT_LE(compact.structures[s].rows, 50U);
    const std::size_t values = table.structures[s].alternatives * table.feature_count;
    for (std::size_t a = 0; a < table.size; ++a) {
      EXPECT_TRUE(std::equal(table.row(s, a), table.row(s, a) + values, compact.row(s, a)));
    }
  }
}

}  // namespace
}  // namespace tenshot::trainer::structured
