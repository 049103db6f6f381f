#include "trainer/predictors/cold_stages/family_errors.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "nasbench/support/quantiles.h"

namespace tenshot::trainer::cold_stages {
namespace {

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Whether the mean of the other families' means brings a family's predictions nearer, on average over families.
bool mean_transfers(const std::vector<std::vector<double>>& errors, const std::vector<double>& means) {
  const double sum = std::accumulate(means.begin(), means.end(), 0.0);
  double without = 0, with = 0;
  for (std::size_t f = 0; f < errors.size(); ++f) {
    const double of_others = (sum - means[f]) / static_cast<double>(errors.size() - 1);
    std::vector<double> before, after;
    for (const double error : errors[f]) {
      before.push_back(std::abs(error));
      after.push_back(std::abs(error - of_others));
    }
    without += mean(before);
    with += mean(after);
  }
  return with < without;
}

}  // namespace

FamilyError error_of_new_family(std::vector<std::vector<double>> errors) {
  errors.erase(std::remove_if(errors.begin(), errors.end(), [](const auto& family) { return family.empty(); }),
               errors.end());
  if (errors.empty()) return {};
  if (errors.size() == 1) {
    const std::vector<double> networks = std::move(errors.front());
    errors.clear();
    for (const double error : networks) errors.push_back({error});
  }
  std::vector<double> means;
  double within = 0, networks = 0, inverse_sizes = 0;
  for (const std::vector<double>& family : errors) {
    means.push_back(mean(family));
    for (const double error : family) within += (error - means.back()) * (error - means.back());
    networks += static_cast<double>(family.size());
    inverse_sizes += 1 / static_cast<double>(family.size());
  }
  const auto families = static_cast<double>(errors.size());
  if (errors.size() == 1) return {0, t_quantile(0.95, 1) * std::abs(means.front())};
  if (networks > families) within /= networks - families;
  FamilyError error;
  if (mean_transfers(errors, means)) error.middle = mean(means);
  double between = 0;
  for (const double one : means) between += (one - error.middle) * (one - error.middle);
  between /= families - 1;
  within *= 1 - inverse_sizes / families;  // means of few networks vary by the rest already
  error.spread = t_quantile(0.95, errors.size() - 1) * std::sqrt(between * (1 + 1 / families) + within);
  return error;
}

}  // namespace tenshot::trainer::cold_stages
