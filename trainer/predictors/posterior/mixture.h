#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace tenshot::trainer {

/// Leaves at most `most` hypotheses, the most probable first. `score` is the log of a hypothesis's weight, but for what
/// all weights sum to; where it is no finite number, the hypothesis goes. `Scored` is what has the score: the
/// hypothesis or a base of it.
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
