#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "datasets/operators/kernel_table.h"
#include "descriptor/fusion/fusion_detection.h"
#include "descriptor/isolation/isolation.h"
#include "nasbench/graph/network.h"
#include "trainer/cli/command.h"
#include "trainer/cli/outcome.h"
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

/// Measures one kernel after the other, those that a file of kernels lacks, which an interrupted run goes on with; what
/// a call costs first. The purpose of its rows: "sample of libtorch-eager at 1 threads".
class KernelMeasuring {
 public:
  /// `what`: "sample", "grid"; --runtime, --threads and --quiet are read of the options. Throws InputError where the
  /// file is there with another purpose, and as make_runtime() and datasets::read_kernel_table() do.
  KernelMeasuring(const OptionParser& options, const std::string& what, std::string file);

  /// ms; NaN where the runtime refuses it. Throws Interrupted, after all is kept, where the program is to stop.
  double operator()(const std::string& type, const nasbench::Network& network);
  /// How many kernels the file has.
  std::size_t count() const { return rows_.size(); }
  /// Writes the file.
  void keep() const;

 private:
  descriptor::IsolatedTiming call() const;
  void add(datasets::KernelRow row);

  descriptor::IsolationOptions isolation_;
  std::unique_ptr<descriptor::Runtime> runtime_;
  std::string file_, purpose_;
  std::vector<datasets::KernelRow> rows_;
  std::map<std::string, double> found_;  ///< ms; NaN where the runtime refused it
  ProgressLine progress_;
};

/// `plan --kit FOLDER --fusion`: a kit of test cases of fusion.
void write_fusion_kit(const OptionParser& options, Outcome& outcome);

/// What a board measured of such a kit.
struct MeasuredCases {
  std::string device;  ///< the board's backend and settings
  descriptor::CaseImage image;
  int rounds = 0;  ///< that its runs make
  descriptor::TimeCase time_case;
};

/// Throws InputError where the folder is no kit of test cases, or its cases were run too few times; FileError and
/// FormatError as datasets::read_kit_results does.
MeasuredCases measured_cases(const std::string& folder, bool quiet);

}  // namespace tenshot::cli
