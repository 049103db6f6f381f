#include "sampling/architectures/sampler.h"

#include "nasbench/support/error.h"
#include "nasbench/support/text.h"

namespace tenshot::sampling {

std::vector<std::string> sampler_names() { return {"random", "targeted-uniform", "listed"}; }

std::unique_ptr<Sampler> make_sampler(std::string_view name) {
  if (name == "random") return std::make_unique<RandomSampler>();
  if (name == "targeted-uniform") return std::make_unique<TargetedUniformSampler>();
  if (name == "listed") return std::make_unique<ListedSampler>();
  throw InputError("there is no sampler '" + std::string(name) + "'; there are: " + joined(sampler_names()));
}

std::vector<std::size_t> unmeasured_candidates(const Candidates& candidates, std::size_t samples) {
  std::vector<bool> taken(candidates.architectures.size(), false);
  for (const std::size_t index : candidates.measured) taken[index] = true;
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

std::vector<std::size_t> with_clones(std::size_t size, int factor) {
  if (factor < 1) {
    throw InputError("the augmentation factor is " + std::to_string(factor) + ", expected 1 (no clones) or more");
  }
  std::vector<std::size_t> indices;
  indices.reserve(size * static_cast<std::size_t>(factor));
  for (std::size_t i = 0; i < size; ++i) indices.insert(indices.end(), static_cast<std::size_t>(factor), i);
  return indices;
}

}  // namespace tenshot::sampling
