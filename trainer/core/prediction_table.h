#pragma once

#include <filesystem>
#include <vector>

#include "datasets/tables/findings.h"
#include "datasets/tables/quantity.h"
#include "trainer/core/predictor.h"

namespace tenshot::trainer {

/// The rows of a predictions file: `architecture,latency_ms[,lower_ms,upper_ms]`, or the columns of another quantity:
/// `architecture,energy_mj[,lower_mj,upper_mj]`.
struct PredictionTable {
  std::vector<Architecture> architectures;
  Predictions predictions;  ///< bounds only when the file has both columns
  datasets::Findings findings;
};

/// Throws InputError that names the first architecture whose latency is not finite and positive, or whose bounds are no
/// numbers. Each number of a predictor's file is checked when it is read; this is what they say together.
void require_usable(const Predictions& predictions, const std::vector<Architecture>& architectures,
                    const SearchSpace& space, datasets::Quantity quantity = datasets::Quantity::latency);

/// Writes it atomically, after require_usable, numbers in their shortest exact form; "-" is standard output.
void write_predictions(const std::filesystem::path& path, const std::vector<Architecture>& architectures,
                       const Predictions& predictions, const SearchSpace& space,
                       datasets::Quantity quantity = datasets::Quantity::latency);

/// Throws FileError, InputError (wrong columns, or those of measurements); unusable rows become findings.
PredictionTable read_predictions(const std::filesystem::path& path, const SearchSpace& space,
                                 datasets::Quantity quantity = datasets::Quantity::latency);

/// Writes `rank,architecture`, ranks from 1.
void write_plan(const std::filesystem::path& path, const std::vector<Architecture>& architectures,
                const SearchSpace& space);

}  // namespace tenshot::trainer
