#include "sampling/architectures/sampler.h"

namespace tenshot::sampling {

std::vector<std::size_t> RandomSampler::choose(const Candidates& candidates, std::size_t samples, Rng& rng) const {
  std::vector<std::size_t> left = unmeasured_candidates(candidates, samples);
  rng.shuffle(left);
  left.resize(samples);
  return left;
}

std::vector<std::size_t> ListedSampler::choose(const Candidates& candidates, std::size_t samples, Rng&) const {
  std::vector<std::size_t> left = unmeasured_candidates(candidates, samples);
  left.resize(samples);
  return left;
}

}  // namespace tenshot::sampling
