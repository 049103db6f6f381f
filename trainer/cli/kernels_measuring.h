#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datasets/operators/kernel_table.h"
#include "descriptor/isolation/isolation.h"
#include "nasbench/graph/network.h"
#include "trainer/cli/command.h"

namespace tenshot::cli {

/// The file of measured kernels, which an interrupted run goes on with.
class KernelJournal {
 public:
  /// `purpose` says what is measured on which setting of a runtime. Throws InputError where the file is there with
  /// another one, and as datasets::read_kernel_table does.
  KernelJournal(std::string path, const std::string& purpose);

  /// ms; NaN where the runtime refused it; nothing where it was not measured.
  std::optional<double> find(const datasets::KernelRow& row) const;
  void add(datasets::KernelRow row);
  void keep() const;
  const std::vector<datasets::KernelRow>& rows() const { return rows_; }

 private:
  std::string path_, purpose_;
  std::vector<datasets::KernelRow> rows_;
  std::map<std::string, double> found_;
};

/// Measures one kernel after the other, those that the file lacks, what a call costs first. The purpose of its rows:
/// "sample of libtorch-eager at 1 threads".
class KernelMeasuring {
 public:
  /// `what`: "sample", "grid"; --runtime, --threads and --quiet are read of the options. Throws as make_runtime() and
  /// KernelJournal do.
  KernelMeasuring(const OptionParser& options, const std::string& what, const std::string& file);

  /// ms; NaN where the runtime refuses it. Throws Interrupted, after all is kept, where the program is to stop.
  double operator()(const std::string& type, const nasbench::Network& network);
  const KernelJournal& journal() const { return journal_; }

 private:
  descriptor::IsolatedTiming call() const;

  descriptor::IsolationOptions isolation_;
  std::unique_ptr<descriptor::Runtime> runtime_;
  KernelJournal journal_;
  ProgressLine progress_;
};

}  // namespace tenshot::cli
