#pragma once

#include <string>
#include <vector>

#include "trainer/cli/command.h"
#include "trainer/predictors/kernels/learners.h"

namespace tenshot::cli {

// What `kernels` does with measured kernels.

/// `kernels sample`: measures kernels of a runtime by adaptive sampling.
void sample_kernels(const std::vector<std::string>& arguments);

/// `kernels grid`: measures kernels of a runtime on a grid, and interpolates between them.
void grid_kernels(const std::vector<std::string>& arguments);

/// `kernels train`: the predictor `kernels` from measured kernels.
void train_kernels(const std::vector<std::string>& arguments);

extern const char* const sample_kernels_example;
extern const char* const grid_kernels_example;
extern const char* const train_kernels_example;

/// What `kernels train` and `kernels grid` have in common: --rules, --measurements, --correction, --seed, --out, --json
/// and --networks.
void add_learning_options(OptionParser& options);

/// The predictor of --out from a table of measured kernels. Throws InputError where the table holds two runtimes, or no
/// kernel that was measured.
void learn_kernels(const OptionParser& options, const std::string& table, trainer::kernels::LearnerKind learner,
                   Outcome& outcome);

/// `plan --kit FOLDER --fusion`: a kit of test cases of fusion.
void write_fusion_kit(const OptionParser& options, Outcome& outcome);

}  // namespace tenshot::cli
