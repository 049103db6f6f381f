#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "trainer/core/options.h"

namespace tenshot::trainer {

/// What a mixture of hypotheses assumes, whatever its features are. Each option is explained where it is declared.
struct MixtureOptions {
  std::vector<double> noises = {0.015, 0.03, 0.06, 0.12};
  std::vector<double> closeness = {0.3, 1.5, 4};
  double library_share = 1;
  double residual_share = 1;
  double student_freedom = 4;
  double slow_share = 0.25;  ///< matters where a NoiseLevel has a slow step
  double gross_share = 0.02;
  double gross_spread = 1;
  int newton_steps = 5;
  std::size_t kept = 60;
};

/// What some of them may be, which depends on the features.
struct MixtureRanges {
  Allowed noises, closeness, student_freedom, kept;
};

/// `own` options and declarations of those of MixtureOptions, from which their struct derives, but for slow_share.
template <class Options>
std::vector<DeclaredOption<Options>> with_mixture_options(const MixtureRanges& ranges,
                                                          std::vector<DeclaredOption<Options>> own) {
  const std::vector<DeclaredOption<Options>> common = {
      {"noises", &Options::noises, ranges.noises,
       "Standard deviations of log latency about the costs, tried in turn. More of them cost time in proportion; "
       "without large ones, an unsteady device makes costs follow its noise."},
      {"closeness", &Options::closeness, ranges.closeness,
       "How far a device may be from its library entry, in units of the spread of costs, tried in turn: some devices "
       "are nearly the same as one of the pool. More of them cost time in proportion; larger ones let a device be "
       "unlike the pool."},
      {"library_share", &Options::library_share, Allowed(0, 1e3),
       "h: the spread of costs among the library's devices counts h-fold. Larger lets a device be less like the pool, "
       "and takes more measurements to be sure; 0 leaves what the other spreads say."},
      {"residual_share", &Options::residual_share, Allowed(0, 10),
       "What alike networks share beside costs, a Gaussian process, has the standard deviation residual_share · σ; 0: "
       "there is none. Larger predicts networks nearer to what alike ones measured, and follows their noise."},
      {"student_freedom", &Options::student_freedom, ranges.student_freedom,
       "ν of the Student distribution of the noise; where it may be 0, that is a Gaussian. Larger lets single "
       "measurements that are far off pull the costs further."},
      {"gross_share", &Options::gross_share, Allowed(0, 0.5),
       "Share of measurements that are simply wrong. Larger protects from more mistakes, and makes less of a true "
       "measurement that surprises."},
      {"gross_spread", &Options::gross_spread, Allowed(1e-3, 10),
       "Standard deviation of the log latency of measurements that are simply wrong. Larger protects from worse "
       "mistakes."},
      {"newton_steps", &Options::newton_steps, Allowed(1, 1000),
       "Steps of Gauss–Newton for each hypothesis. More cost time, and change little once it has settled."},
      {"kept", &Options::kept, ranges.kept, "Components kept. More make predictions slower and files larger."},
  };
  own.insert(own.begin(), common.begin(), common.end());
  return own;
}

/// Leaves at most `most` hypotheses, the most probable first. `score` is the log of a hypothesis's weight, but for what
/// all weights sum to; where it is not finite, the hypothesis goes. `Scored` has the score: the hypothesis or a base.
template <class Hypothesis, class Scored>
void keep_best(std::vector<Hypothesis>& hypotheses, double Scored::*score,
               std::size_t most = std::numeric_limits<std::size_t>::max()) {
  const auto unusable = [score](const Hypothesis& one) { return !std::isfinite(one.*score); };
  hypotheses.erase(std::remove_if(hypotheses.begin(), hypotheses.end(), unusable), hypotheses.end());
  std::stable_sort(hypotheses.begin(), hypotheses.end(),
                   [score](const Hypothesis& a, const Hypothesis& b) { return a.*score > b.*score; });
  if (hypotheses.size() > most) hypotheses.resize(most);
}

/// The weights of hypotheses of which the first is the most probable; they sum to 1.
template <class Hypothesis, class Scored>
std::vector<double> weights_of(const std::vector<Hypothesis>& hypotheses, double Scored::*score) {
  std::vector<double> weights;
  double total = 0;
  for (const Hypothesis& one : hypotheses) {
    weights.push_back(std::exp(one.*score - hypotheses.front().*score));
    total += weights.back();
  }
  for (double& weight : weights) weight /= total;
  return weights;
}

}  // namespace tenshot::trainer
