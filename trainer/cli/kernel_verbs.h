#pragma once

#include <string>

#include "trainer/cli/command.h"
#include "trainer/predictors/kernels/learners.h"

namespace tenshot::cli {

/// What `kernels train` and `kernels grid` have in common: the predictor of --out from a table of measured kernels.
/// Throws InputError where the table holds two runtimes, or no kernel that was measured.
void learn_kernels(const OptionParser& options, const std::string& table, trainer::kernels::LearnerKind learner,
                   Outcome& outcome);

/// `plan --kit FOLDER --fusion`: a kit of test cases of fusion.
void write_fusion_kit(const OptionParser& options, Outcome& outcome);

}  // namespace tenshot::cli
