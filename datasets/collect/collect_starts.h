#pragma once

#include <string>
#include <vector>

#include "datasets/collect/collect.h"
#include "datasets/tables/quantity.h"

namespace tenshot::datasets {

/// What `tenshot collect --cold` and `--quantity memory` do: networks started again and again, each in a fresh process.
struct CollectStartsOptions {
  /// Runtime, its options, shape, instruction set, architectures, id, device and folder; the rest is not looked at.
  CollectOptions collect;
  Quantity quantity = Quantity::cold;  ///< or memory: what the device-runtime holds
  /// The program and the arguments that start a network once and print a FreshStart as the last line: `--weights FILE`
  /// and the architecture (of a network by name, its ONNX file) are put behind; `--empty` for one that does nothing.
  std::vector<std::string> command;
  /// Starts of a network at least. More take longer, and make lucky agreement of a few less likely.
  int minimum_starts = 6;
  /// Undisturbed starts at most; twice as many in all. More take longer, and let unsteady disks reach the precision.
  int maximum_starts = 15;
  /// The networks are started in turn, this often, and an equal share of a network's starts falls into each round: what
  /// the machine changes in the course of an hour does not tell networks apart then. More write weights more often.
  int rounds = 1;
  /// Enough starts once the 95 % confidence interval of the median is within this. Larger stops sooner and leaves more
  /// noise; halving it takes four times the starts.
  double relative_precision = 0.05;
  /// How long one start may take. Larger lets slow disks finish; a start that hangs is given up later.
  double time_limit_s = 300;
};

/// Starts the networks that DIR/<id>/cold.csv (memory.csv) does not have yet, and writes the device file. A network is
/// saved as soon as it is measured, and with more rounds than one each start, so that the same call resumes. The file
/// of a network's weights is written beside the results, so that it lies on the same disk, and dropped from the page
/// cache before each start, and free memory is touched (descriptor/machine/memory.h); how often the system kept
/// the file is in the environment, and so are the networks that the runtime does not run. Memory is the peak of the
/// process less that of one whose network is empty. Throws InputError when the folder holds measurements made under
/// other conditions, Interrupted when progress said stop, Error when a start fails.
DeviceRuntime collect_starts(const CollectStartsOptions& options, const NetworkSpace& space,
                             const CollectProgress& progress = {});

}  // namespace tenshot::datasets
