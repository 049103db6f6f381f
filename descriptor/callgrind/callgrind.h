#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "descriptor/counters/operator_counts.h"
#include "descriptor/runtimes/runtime.h"

namespace tenshot::descriptor {

/// A simulated cache; callgrind wants bytes / (ways × line_bytes), the number of sets, to be a power of two.
struct CacheGeometry {
  int bytes = 0;
  int ways = 0;
  int line_bytes = 64;
};

/// Counting on a simulated processor: for machines that do not let programs count events.
struct CallgrindOptions {
  std::filesystem::path program;       ///< calls run_for_callgrind when started with `arguments`
  std::vector<std::string> arguments;  ///< they make it run `operators` operators, `runs` times each
  std::size_t operators = 0;
  /// Runs of each operator. More even out what only some runs do; simulated runs are far slower than real ones.
  int runs = 5;
  // What is simulated does not depend on the host, so that counts repeat elsewhere. The last level is far smaller than
  // a server's: it is a small core's second level. Operators of NAS-Bench-201 fit into 2 MiB and would show no misses.
  // Larger caches count fewer misses; counts of other geometries than the pool's do not compare with the pool's.
  CacheGeometry instructions{32 << 10, 8}, data{48 << 10, 12}, last_level{256 << 10, 8};
  /// Limit of the time of all operators together. Larger lets slow machines finish; what hangs is given up later.
  double time_limit_s = 1800;
  /// Asked ten times a second with how many operators have been counted; counting stops when it says no.
  std::function<bool(std::size_t operators_counted)> go_on;
  std::string valgrind = "valgrind";  ///< looked for in PATH
};

/// Why valgrind cannot run LibTorch on this machine; empty where nothing speaks against it.
std::string why_no_valgrind();

/// Counts by valgrind's tool callgrind, all operators in one child process: cycles, instructions, cache-references,
/// cache-misses, L1-dcache-loads, L1-dcache-load-misses (MAPLE-Edge §2.3). Cycles are an estimate, instructions + 10 ×
/// first-level misses + 100 × last-level misses (KCachegrind's "cycle estimation"); the cache-references and
/// cache-misses are those of the last level. Throws Error when valgrind is missing (or was when this was built) or the
/// child fails or takes too long, Interrupted when `go_on` says no, FormatError when a dump is missing or damaged.
OperatorCounts count_by_callgrind(const CallgrindOptions& options);

/// The child's side: runs each operator a few times to warm the simulated caches, then `runs` times for the dump.
void run_for_callgrind(const std::vector<std::unique_ptr<PreparedNetwork>>& operators, int runs);

/// Whether valgrind executes this process; never where the build had no headers of valgrind.
bool under_valgrind();

}  // namespace tenshot::descriptor
