#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/kit/kit.h"
#include "datasets/pool/pool.h"
#include "datasets/tables/quantity.h"

namespace tenshot::datasets {

/// How the two networks of a test case end in a kit of test cases, whose operators a runtime may fuse.
constexpr const char *apart_suffix = "__apart", *together_suffix = "__together";

/// What can be said against a model's result.
enum class KitProblem : std::uint8_t {
  not_measured,
  failed,        ///< the board said why
  other_model,   ///< what was measured has another hash than what the kit holds
  unreadable,    ///< times or notes that cannot be understood
  wide_spread,   ///< the times' interquartile range is over `kit_tolerated_spread` of their median
  clocks_moved,  ///< over 2 % between before and after
  other_clock,   ///< it ran at another clock than most of the kit's architectures (clock_level())
  no_descriptor  ///< operators, counters or chains are missing: there is no hardware descriptor, or not all of it
};

std::string_view name(KitProblem problem);

constexpr double kit_tolerated_spread = 0.1;

struct KitFinding {
  KitProblem problem = KitProblem::not_measured;
  /// What is wrong, in one line: "arch_03 (|nor_conv_3x3~0|+…): not measured; left out". Where it does not end so, the
  /// measurement is used, and this is a warning.
  std::string message;
};

/// A kit with what its results/ say.
struct KitResults {
  KitManifest manifest;
  std::map<std::string, std::string> run;         ///< results/kit.txt: backend, precision, version, started …
  std::map<std::string, std::string> quantities;  ///< results/quantities.txt: what tells energy and memory, or why not
  std::map<std::string, std::string> before, after;  ///< the board's state
  Quantity quantity = Quantity::latency;             ///< what `latencies` are
  std::vector<Measurement> latencies;                ///< in the order of the plan; latency is the median
  std::vector<std::vector<double>> times_ms;         ///< every run of each of `latencies`; empty of other quantities
  HardwareDescriptor descriptor;  ///< of all operators or "none"; in_network where every chain was measured
  std::vector<KitFinding> findings;
  std::size_t planned = 0;     ///< architectures
  std::size_t aggregated = 0;  ///< of them, those whose one time is an average or a median that a tool printed
  /// How many of them had a clock, or a level of the sentinel, that moved. A clock that follows the load tells nothing.
  std::size_t unsettled = 0;
  double clock_level = 0;  ///< of most of them, in the unit of their notes (board_results.h); 0: there is none
};

/// Reads `folder`, which need not be complete. Whatever cannot be used becomes a finding. Of another quantity than
/// latency the numbers are those that measure.sh noted beside the times. Throws FileError, FormatError on the manifest
/// alone, and InputError when nothing was measured: says whether measure.sh ran at all.
KitResults read_kit_results(const std::filesystem::path& folder, Quantity quantity = Quantity::latency);

/// As a device-runtime called `id`, the board's state in its environment. Throws InputError unless is_device_id(id).
DeviceRuntime device_of(const KitResults& results, const std::string& id);

/// An id for the device: backend, precision, threads if known, batch, and what measure.sh was told of optimisation.
std::string default_device_id(const KitResults& results);

}  // namespace tenshot::datasets
