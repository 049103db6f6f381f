#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "datasets/pool/pool.h"
#include "nasbench/structures/structures.h"
#include "trainer/core/knowledge.h"
#include "trainer/predictors/library/library.h"
#include "trainer/predictors/structured/posterior.h"

namespace tenshot::trainer::structured {

/// A network that a device's costs were fitted without: log measured − log predicted, and the standard deviation that
/// was expected of it.
struct LeftOutError {
  double error = 0;
  double deviation = 1;
};

/// The parts that networks are left out in, one after the other: each network has the number of its part, a fifth of
/// all in each, drawn with a fixed seed.
constexpr std::size_t left_out_parts = 5;
std::vector<std::size_t> left_out_part_of(std::size_t networks);

/// The summary of errors [device][network]. A device with few of them takes half of its quantiles from all devices; one
/// without any has no shares (NaN). `networks` are those that each device measured.
OwnFits own_fits_of(const std::vector<std::vector<LeftOutError>>& errors, const std::vector<std::size_t>& networks);

/// The calibration that a device's own left-out errors give; empty (normal) where there are none.
IntervalCalibration own_calibration(const OwnFits& fits, std::size_t device);

/// What a library says of one of its devices without any measurement. The calibration is empty. Throws InputError where
/// it has no entry of that id.
StructuredPosterior known_posterior(const StructuredLibrary& library, const std::string& id,
                                    const PosteriorOptions& options);

/// How well each device is predicted where a fifth of the architectures is left out of all fits at a time.
OwnFits own_fits(const nasbench::StructureModel& model, const datasets::Pool& pool, const PosteriorOptions& options);

}  // namespace tenshot::trainer::structured
