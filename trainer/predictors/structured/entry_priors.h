#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "trainer/predictors/described/descriptor_prior.h"
#include "trainer/predictors/library/library.h"
#include "trainer/predictors/structured/posterior.h"

namespace tenshot::trainer::structured {

/// Covariance of the costs across the library's entries, in units of the median latency.
Eigen::MatrixXd library_covariance(const StructuredLibrary& library);

/// Prior of the costs of one entry's kind of device, in units of the median latency. Features that the entry's own
/// structure does not use are taken from the typical costs.
CostGaussian cost_prior(const StructuredLibrary& library, std::size_t entry, const Eigen::MatrixXd& library_covariance,
                        const StructuredPosteriorOptions& options);

/// Prior of the costs under one structure of a device that has a descriptor.
CostGaussian described_prior(const DescribedDevice& described, std::size_t structure,
                             const StructuredPosteriorOptions& options);

/// Where costs may come from: the library's entries, then what the device's descriptor says.
class CostPriors {
 public:
  CostPriors(const StructuredLibrary& library, const StructuredPosteriorOptions& options,
             const DescribedDevice* described);
  /// The same for a few entries of a library that has `entries_of_all` and the covariance `spread`.
  CostPriors(const StructuredLibrary& library, const StructuredPosteriorOptions& options,
             const DescribedDevice* described, const Eigen::MatrixXd& spread, std::size_t entries_of_all);

  std::size_t entries() const { return of_library_.size() + (described_.empty() ? 0 : 1); }
  const CostGaussian& at(std::size_t structure, std::size_t entry) const {
    return entry < of_library_.size() ? of_library_[entry] : described_[structure];
  }
  /// Log prior probability of an entry, against one of the library.
  double log_odds(std::size_t entry) const { return entry < of_library_.size() ? 0 : log_odds_described_; }

 private:
  std::vector<CostGaussian> of_library_;
  std::vector<CostGaussian> described_;  ///< one a structure; empty without a descriptor
  double log_odds_described_ = 0;
};

}  // namespace tenshot::trainer::structured
