#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "datasets/tables/findings.h"
#include "datasets/tables/quantity.h"
#include "trainer/core/predictor.h"

namespace tenshot::trainer {

/// The rows of a predictions file: `architecture,latency_ms[,lower_ms,upper_ms]`, or another quantity's columns.
struct PredictionTable {
  std::vector<Architecture> architectures;
  Predictions predictions;  ///< bounds only when the file has both columns
  datasets::Findings findings;
};

/// An interval whose upper bound is so many times its lower one says nothing: it leaves milliseconds or minutes open.
constexpr double widest_interval = 1e4;

/// Why a prediction cannot be used, in words that name the architecture; empty where it can. Its latency has to be
/// finite and above zero, as its bounds have to be, and the upper bound less than `widest_interval` times the
/// lower. Each number of a predictor's file is checked when it is read; this is what they say together.
std::string why_unusable(const Predictions& predictions, std::size_t index, const Architecture& architecture,
                         const NetworkSpace& space, datasets::Quantity quantity = datasets::Quantity::latency);

/// Takes the architectures out whose predictions cannot be used, with those, and returns why of each.
std::vector<std::string> take_out_unusable(Predictions& predictions, std::vector<Architecture>& architectures,
                                           const NetworkSpace& space, datasets::Quantity quantity);

/// Throws InputError with the first reason of why_unusable.
void require_usable(const Predictions& predictions, const std::vector<Architecture>& architectures,
                    const NetworkSpace& space, datasets::Quantity quantity = datasets::Quantity::latency);

/// Writes it atomically, after require_usable, numbers in their shortest exact form; "-" is standard output.
void write_predictions(const std::filesystem::path& path, const std::vector<Architecture>& architectures,
                       const Predictions& predictions, const NetworkSpace& space,
                       datasets::Quantity quantity = datasets::Quantity::latency);

/// Throws FileError, InputError (wrong columns, or those of measurements); unusable rows become findings.
PredictionTable read_predictions(const std::filesystem::path& path, const NetworkSpace& space,
                                 datasets::Quantity quantity = datasets::Quantity::latency);

/// Writes `rank,architecture`, ranks from 1.
void write_plan(const std::filesystem::path& path, const std::vector<Architecture>& architectures,
                const NetworkSpace& space);

}  // namespace tenshot::trainer
