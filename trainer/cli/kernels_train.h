#pragma once

#include <string>

#include "trainer/cli/command.h"
#include "trainer/cli/outcome.h"
#include "trainer/predictors/kernels/learners.h"

namespace tenshot::cli {

/// What `kernels train` and `grid` share: --rules, --measurements, --correction, --seed, --out, --json, --networks.
void add_learning_options(OptionParser& options);

/// The predictor of --out from a table of measured kernels. Throws InputError where it holds two runtimes, or none.
void learn_kernels(const OptionParser& options, const std::string& table, trainer::kernels::LearnerKind learner,
                   Outcome& outcome);

}  // namespace tenshot::cli
