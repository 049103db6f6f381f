#pragma once

#include <string>

#include "trainer/cli/command.h"
#include "trainer/cli/outcome.h"
#include "trainer/predictors/kernels/learners.h"

namespace tenshot::cli {

/// What `kernels train` and `kernels grid` have in common: --rules, --measurements, --correction, --seed, --out, --json
/// and --networks.
void add_learning_options(OptionParser& options);

/// The predictor of --out from a table of measured kernels. Throws InputError where the table holds two runtimes, or no
/// kernel that was measured.
void learn_kernels(const OptionParser& options, const std::string& table, trainer::kernels::LearnerKind learner,
                   Outcome& outcome);

}  // namespace tenshot::cli
