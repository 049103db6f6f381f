#include "sampling/architectures/sampler.h"

#include "nasbench/support/numbers_below.h"
#include "nasbench/support/text.h"

namespace tenshot::sampling {
namespace {

/// For each bin how many of the measured candidates it is the best home of: the bin that most devices rank them in.
std::vector<std::size_t> measured_per_bin(const std::vector<std::vector<std::size_t>>& bins,
                                          const std::vector<std::size_t>& measured, std::size_t candidate_count) {
  std::vector<std::size_t> best_bin(candidate_count, 0), best_votes(candidate_count, 0), votes(candidate_count, 0);
  for (std::size_t b = 0; b < bins.size(); ++b) {
    for (const std::size_t i : bins[b]) {
      if (++votes[i] <= best_votes[i]) continue;
      best_votes[i] = votes[i];
      best_bin[i] = b;
    }
    for (const std::size_t i : bins[b]) votes[i] = 0;
  }
  std::vector<std::size_t> filled(bins.size(), 0);
  for (const std::size_t i : measured) ++filled[best_bin[i]];
  return filled;
}

/// The `samples` bins to draw from: those the measured candidates fill least, in bin order.
std::vector<std::size_t> emptiest_bins(const std::vector<std::size_t>& filled, std::size_t samples) {
  std::vector<std::size_t> order = numbers_below(filled.size());
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return filled[a] < filled[b]; });
  order.resize(samples);
  std::sort(order.begin(), order.end());
  return order;
}

std::vector<bool> measured_flags(const Candidates& candidates) {
  std::vector<bool> flags(candidates.architectures.size(), false);
  for (const std::size_t index : candidates.measured) flags[index] = true;
  return flags;
}

/// Candidates that are not measured. Throws InputError when they are fewer than `samples`.
std::vector<std::size_t> unmeasured_candidates(const Candidates& candidates, std::size_t samples) {
  const std::vector<bool> taken = measured_flags(candidates);
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (!taken[i]) left.push_back(i);
  }
  if (left.size() < samples) {
    throw InputError("cannot choose " + std::to_string(samples) + " architectures: only " +
                     std::to_string(left.size()) + " candidates are not measured yet");
  }
  return left;
}

std::vector<std::size_t> choose_targeted_uniform(const Candidates& candidates, std::size_t samples, Rng& rng) {
  const std::vector<std::size_t> left = unmeasured_candidates(candidates, samples);
  if (candidates.pool_latency.empty()) {
    throw InputError("targeted uniform sampling ranks candidates on the devices of a pool, and this pool has none");
  }
  const auto bins = latency_bins(candidates.pool_latency, candidates.measured.size() + samples);
  std::vector<bool> taken = measured_flags(candidates);
  const auto untaken = [&](std::vector<std::size_t> some) {
    some.erase(std::remove_if(some.begin(), some.end(), [&](std::size_t i) { return taken[i]; }), some.end());
    return some;
  };
  std::vector<std::size_t> chosen;
  for (const std::size_t b : emptiest_bins(measured_per_bin(bins, candidates.measured, taken.size()), samples)) {
    std::vector<std::size_t> open = untaken(bins[b]);
    // Where every architecture of this bin was drawn from its neighbours, any other is as good.
    if (open.empty()) open = untaken(left);
    chosen.push_back(open[rng.below(open.size())]);
    taken[chosen.back()] = true;
  }
  return chosen;
}

std::vector<std::size_t> choose_randomly(const Candidates& candidates, std::size_t samples, Rng& rng) {
  std::vector<std::size_t> left = unmeasured_candidates(candidates, samples);
  rng.shuffle(left);
  left.resize(samples);
  return left;
}

std::vector<std::size_t> choose_listed(const Candidates& candidates, std::size_t samples, Rng& /*rng*/) {
  std::vector<std::size_t> left = unmeasured_candidates(candidates, samples);
  left.resize(samples);
  return left;
}

constexpr std::array<Sampler, 3> samplers = {{{"random", false, choose_randomly},
                                              {"targeted-uniform", true, choose_targeted_uniform},
                                              {"listed", false, choose_listed}}};

}  // namespace

std::vector<std::string> sampler_names() {
  std::vector<std::string> names;
  for (const Sampler& sampler : samplers) names.emplace_back(sampler.name);
  return names;
}

const Sampler& sampler_named(std::string_view name) {
  const auto found =
      std::find_if(samplers.begin(), samplers.end(), [&](const Sampler& sampler) { return sampler.name == name; });
  if (found != samplers.end()) return *found;
  throw InputError("there is no sampler '" + std::string(name) + "'; there are: information, " +
                   joined(sampler_names()));
}

std::vector<std::size_t> with_clones(std::size_t size, int factor) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < size; ++i) indices.insert(indices.end(), static_cast<std::size_t>(factor), i);
  return indices;
}

std::vector<std::vector<std::size_t>> latency_bins(const std::vector<std::vector<double>>& pool_latency,
                                                   std::size_t bins) {
  std::vector<std::vector<std::size_t>> binned(bins);
  for (const std::vector<double>& latency : pool_latency) {
    std::vector<std::size_t> order = numbers_below(latency.size());
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return latency[a] < latency[b]; });
    for (std::size_t rank = 0; rank < order.size(); ++rank) binned[rank * bins / order.size()].push_back(order[rank]);
  }
  return binned;
}

}  // namespace tenshot::sampling
