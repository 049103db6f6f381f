#include "trainer/predictors/structured/library_prior.h"

#include <mutex>
#include <optional>
#include <utility>

#include "trainer/predictors/structured/pool_library.h"
#include "trainer/predictors/structured/structured_planning.h"

namespace tenshot::trainer::structured {
namespace {

class LibraryPrior final : public PlanningPrior {
 public:
  LibraryPrior(const datasets::Pool& pool, StructuredLibrary library, std::optional<DescriptorPrior> descriptor_prior,
               StructuredPosteriorOptions options)
      : pool_(pool),
        library_(std::move(library)),
        descriptor_prior_(std::move(descriptor_prior)),
        options_(std::move(options)) {}

  PlanningView view(const std::vector<Architecture>& candidates, const AdaptationSet& measured) const override {
    const nasbench::StructureTable table = library_.model->table(candidates);
    std::optional<DescribedDevice> known;
    if (measured.descriptor) known = describe(descriptor_prior(), *library_.model, *measured.descriptor);
    const DescribedDevice* described = known ? &*known : nullptr;
    if (measured.architectures.empty()) {
      return {prior_covariance(library_, table, options_, described), {options_.planning_noise}};
    }
    const StructuredPosterior posterior = adapt(library_, measured, options_, described);
    return {posterior_covariance(posterior, table), {noise_of(posterior)}};
  }

  std::vector<std::vector<double>> predict_pool(const std::vector<Architecture>& architectures) const override {
    return latencies_of_pool(library_, pool_, architectures);
  }

 private:
  const DescriptorPrior& descriptor_prior() const {
    std::call_once(described_, [this] {
      if (!descriptor_prior_) descriptor_prior_ = descriptor_prior_of(library_, pool_);
    });
    return *descriptor_prior_;
  }

  const datasets::Pool& pool_;
  StructuredLibrary library_;
  mutable std::once_flag described_;
  mutable std::optional<DescriptorPrior> descriptor_prior_;  ///< nothing: not fitted yet
  StructuredPosteriorOptions options_;
};

}  // namespace

std::shared_ptr<const PlanningPrior> planning_prior(const datasets::Pool& pool, const StructuredLibrary& library,
                                                    const DescriptorPrior& descriptor_prior,
                                                    const StructuredPosteriorOptions& options) {
  return std::make_shared<LibraryPrior>(pool, library, descriptor_prior, options);
}

std::shared_ptr<const PlanningPrior> planning_prior(const datasets::Pool& pool) {
  return std::make_shared<LibraryPrior>(pool, library_of(pool), std::nullopt, StructuredPosteriorOptions{});
}

}  // namespace tenshot::trainer::structured
