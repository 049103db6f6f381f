#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "trainer/report/page.h"

namespace tenshot::trainer::report {

/// One self-contained HTML page on an experiment's folder (evaluation/experiment.h) or on a predictor's file: tables
/// and pictures that need no network. `measured`, for a predictor, is a CSV of further measurements of its device to
/// hold it against. Throws what reading these throws; InputError when `what` is neither; FileError without gnuplot.
Page make_report(const std::filesystem::path& what, const std::optional<std::filesystem::path>& measured);

Page experiment_report(const std::filesystem::path& folder);
Page device_report(const std::filesystem::path& predictor, const std::optional<std::filesystem::path>& measured);

}  // namespace tenshot::trainer::report
