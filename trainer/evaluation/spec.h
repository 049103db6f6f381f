#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "datasets/pool/pool.h"
#include "datasets/tables/quantity.h"

namespace tenshot::trainer::evaluation {

/// Where latencies come from: a pool's folder or a wide table. A relative path is relative to the spec's folder
/// where there is something of that name, else to the working folder; `${NAME}` in it is that environment variable.
struct DataSource {
  std::string path;
  bool is_table = false;
  std::string space = "nasbench201";  ///< space of a table: its name, or the file of a layered space
  std::string networks;               ///< operators of a table's networks, in the space `networks` (read_networks)
  datasets::ColumnOfDevice operator_latencies;  ///< columns of `networks` with what operators take on devices
  std::optional<datasets::Quantity> quantity;   ///< what is predicted; nothing: of a table latencies, of a pool its own
};

/// Architectures by their row: of a table its `index`, of a pool the order in which its devices first name them. What
/// the pool knows, and what the samples are drawn from; and what predictions are evaluated on. The two do not overlap.
struct Split {
  datasets::RowRange train;
  datasets::RowRange test;
  /// What the pool knows where that is more than samples are drawn from: networks known, only the device new.
  std::optional<datasets::RowRange> pool;
};

/// Which device-runtimes a target's predictor learns from. The target itself never is among them.
struct PoolStrategy {
  std::string name;
  /// "others": all others ("combined pool", MAPLE-Edge §3.1). "same-runtime": those of the target's runtime ("runtime
  /// pool", MAPLE-Edge §3.1). "other-runtimes": those of other runtimes: the target's whole family is new.
  /// "other-families": the same, by families that the spec names.
  std::string of = "others";
  bool one_at_a_time = false;                ///< one device-runtime in the pool, each in turn (MAPLE-Edge §3.2)
  std::vector<std::string> devices = {"*"};  ///< ids, or patterns with `*`: choose among these only
  /// Ids, or patterns with `*`, of the device-runtimes of each family; who is in none is a family alone.
  std::vector<std::vector<std::string>> families;
};

/// Every architecture of the training rows: a ceiling, not a peer.
constexpr std::size_t every_sample = std::numeric_limits<std::size_t>::max();

/// A way to a predictor: which, how trained and adapted. What is set here holds for this method alone.
struct Method {
  std::string name;
  std::string predictor;
  std::string mode = "joint";
  nlohmann::json settings;  ///< all that its training can be told (PredictorRow::settings)
  bool descriptor = true;   ///< the target's hardware descriptor may be used
  /// The target is described by another runtime's descriptor: a control, which shows whether descriptors are used.
  bool shuffled_descriptor = false;
  /// The samples come with what the target's operators take inside them, where that was measured.
  bool profiled = false;
  bool planning_descriptor = false;  ///< and planning knows it; `information` only
  std::optional<int> clones;
  int ensemble = 1;  ///< so many adaptations, each with a seed of its own; the geometric mean of what they predict
  std::optional<std::string> sampler;
  std::optional<std::size_t> samples;
  /// How many samples each round of planning measures, the later ones knowing the earlier; empty = all at once.
  std::vector<std::size_t> rounds;
  std::optional<double> planning_noise;  ///< PlanRequest::noise

  /// The kind of descriptor that it is trained for; "auto" where it has no choice.
  std::string descriptor_kind() const { return settings.value("descriptor_kind", "auto"); }
};

/// A grid of experiments. Every method of a trial adapts on the same samples.
struct ExperimentSpec {
  std::string name;
  std::string description;
  DataSource data;
  Split split;
  std::vector<std::string> targets;  ///< ids, or patterns with `*`
  std::vector<PoolStrategy> pools;
  std::vector<std::string> samplers;
  std::vector<std::size_t> samples;
  std::vector<std::optional<int>> clones;  ///< nothing: the method's own
  std::vector<Method> methods;
  int trials = 3;
  std::uint64_t seed = 1;  ///< trial t (from 0) draws from seed + t

  nlohmann::json json;  ///< the spec as read, after `quick`: what results are the results of

  std::uint64_t seed_of(int trial) const { return seed + static_cast<std::uint64_t>(trial); }
};

/// Reads a spec (`tenshot.experiment/1`). With `quick`, its key "quick" is merged over it first (RFC 7396): a small
/// grid that shows in a minute that all of it works; without that key, one trial. Its name and description then say so.
/// Throws FileError; FormatError that names file, JSON pointer, the value there and what is allowed.
ExperimentSpec read_spec(const std::filesystem::path& path, bool quick);
ExperimentSpec parse_spec(const std::string& text, const std::string& file, bool quick);

}  // namespace tenshot::trainer::evaluation
