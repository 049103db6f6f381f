#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/pool/pool.h"
#include "descriptor/runtimes/runtime.h"
#include "descriptor/timing/contention.h"
#include "descriptor/timing/timing.h"
#include "nasbench/spaces/search_space.h"

namespace tenshot::datasets {

/// The hardware descriptor to measure with the architectures: of the space's operators, alone and inside a network.
struct DescriptorOptions {
  bool wanted = false;  ///< some seconds of measuring, which let three networks, or none, do for ten
  /// Where counts come from: perf_event (the processor's counters), callgrind (simulated: the same on every machine,
  /// and minutes), latency_only (none), or "auto", the first that works.
  std::string counters = "auto";
  /// Pools can be compared only where they count the same ones. More need more passes.
  std::vector<std::string> events{default_counters.begin(), default_counters.end()};
  /// How many passes count; 0: as many as leave at most four events in each. With fewer the kernel estimates.
  int passes = 0;
  std::filesystem::path program;  ///< the program tenshot, which callgrind runs; empty: callgrind cannot be used
};

/// Watches this machine (descriptor::ContentionWatch).
std::function<descriptor::Contention()> watched_machine();

/// What `tenshot collect` does, as a library call.
struct CollectOptions {
  std::string runtime = "libtorch-eager";
  descriptor::RuntimeOptions runtime_options;
  nasbench::NetworkShape shape;
  /// That the process runs under (descriptor/machine/instruction_set.h); recorded.
  std::string instruction_set = "native";
  descriptor::TimingOptions timing;
  std::vector<Architecture> architectures;  ///< in the order of the file; a second mention of one is ignored
  std::string id;                           ///< of the device-runtime; default_id() when empty
  std::string device;                       ///< the CPU's model name when empty
  DescriptorOptions descriptor;
  /// Measures 5 % of the architectures again at the end, which says how repeatable it all was and takes 5 % longer.
  bool repeat_check = false;
  /// Architectures between two measurements of the sentinel; measured in turn, and the sentinel with them, where
  /// timing.rounds is over 1. Larger spends less time on the sentinel, loses more to a disturbance, and takes memory.
  int batch_size = 20;
  /// A batch whose sentinel moved further is measured again at the end. Larger takes less time, and lets latencies in
  /// that were measured at another speed of the machine.
  double sentinel_tolerance = 0.05;
  /// Begins to watch how much the machine interferes and returns what tells it since then; a batch that was contended
  /// (descriptor::contended) is measured again. Empty: nothing is watched.
  std::function<std::function<descriptor::Contention()>()> watch_contention = watched_machine;
  /// For each batch; the best is kept, and counted in the environment when it is unsettled. More take longer.
  int attempts = 3;
  /// For how many seconds in all to throw away what was measured while the sentinel had moved, and to wait for the
  /// machine to settle. Larger gives better latencies on a machine that others use, later.
  double patience_s = 0;
  std::filesystem::path folder;  ///< DIR/<id>/device.json and latencies.csv are written here
};

/// Called after each measured network: how many architectures are done of how many, and what else goes on ("" when
/// nothing does). Returning false stops the work after what is measured has been saved.
using CollectProgress = std::function<bool(std::size_t done, std::size_t total, const std::string& note)>;

/// "libtorch-frozen_t1_b1": runtime, threads, batch; "_r64" where the resolution is not 32, "_sse4.1" where the
/// instruction set is not the machine's own.
std::string default_id(std::string_view runtime, const CollectOptions& options);

/// Throws InputError that names the option which is out of range, or which the runtime cannot follow.
void require_sensible(const CollectOptions& options, const descriptor::Runtime& runtime);

/// Throws InputError unless this process was started for that instruction set.
void require_instruction_set(const std::string& instruction_set);

/// The device-runtime as its file is to describe it, before anything is measured: its id (where the options have none,
/// default_id(), and the quantity behind it unless that is latency), device, runtime, settings and image.
DeviceRuntime described_device(const CollectOptions& options, const NetworkSpace& space,
                               const descriptor::Runtime& runtime, Quantity quantity);

/// The architecture measured between batches to see whether the machine still runs as it did: every decision takes its
/// middle option. In NAS-Bench-201 that is the cell of six 1×1 convolutions, of middling cost.
Architecture sentinel_of(const nasbench::SearchSpace& space);

/// The sentinel as records name it. Networks by name have that of NAS-Bench-201 in its own shape, whichever of them are
/// measured: a file to which networks are added later keeps its sentinel.
std::string sentinel_name(const NetworkSpace& space);

/// Measures the architectures that DIR/<id>/latencies.csv does not have yet, then again those whose sentinel moved, and
/// writes the device file. Measured batches are saved, with their sentinel, and what is measured of the batch in work
/// is in a journal, batch.json, so that the same call resumes, and tries again what never settled; `complete` in the
/// file's environment says whether a later call has something left to do. An architecture that the runtime cannot run
/// is left out, and stands in the environment with the reason, as long as there is another. The machine is expected to
/// be quiet; the thread is pinned meanwhile to its last processors, so that two collections must not run at once.
/// Throws InputError when the folder holds measurements under other options, Interrupted when progress said stop.
DeviceRuntime collect(const CollectOptions& options, const NetworkSpace& space, const CollectProgress& progress = {});

/// The same with a runtime of the caller's; `options.runtime` is not looked at.
DeviceRuntime collect(const CollectOptions& options, const NetworkSpace& space, const descriptor::Runtime& runtime,
                      const CollectProgress& progress = {});

}  // namespace tenshot::datasets
