#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "trainer/evaluation/grid.h"

namespace tenshot::trainer::evaluation {

/// Part `index` (from 1) of `count`: what one process of a batch system does. It holds every `count`-th number.
struct Shard {
  int index = 1;
  int count = 1;

  bool holds(std::size_t number) const { return static_cast<int>(number) % count == index - 1; }
};
/// "2/8" → {2, 8}. Throws InputError.
Shard parse_shard(const std::string& text);

struct ExperimentProgress {
  std::size_t done = 0;
  std::size_t total = 0;
  std::string what;  ///< name of what was just finished
  double seconds_left = 0;
};

struct ExperimentOptions {
  std::filesystem::path out;
  int jobs = 1;  ///< processes at a time, of one thread each
  Shard shard;
  bool resume = false;  ///< keep what an earlier call has finished in `out`
  std::function<void(const ExperimentProgress&)> on_progress = [](const auto&) {};
  std::function<bool()> go_on = [] { return true; };  ///< asked many times a second; false stops
};

/// Runs what of the grid is this shard's, each cell in a process of its own. Below `out`:
///   experiment.json    what this is: spec, hash of the data, versions
///   models/            trained pools that cells share
///   cells/<n>.json     one finished cell each, written whole
/// and once the only shard is done, what merge_experiment writes. However often it was stopped, by whatever signal, and
/// however it was divided, the results have the same bytes on the same machine.
///
/// Throws InputError when `out` holds another experiment, or this one without `resume`; Interrupted, when the same call
/// with `resume` goes on; what reading and adapting throw, with the cell's description.
void run_experiment(const ExperimentSpec& spec, const ExperimentOptions& options);

/// Joins the finished cells of all shards in `out` into
///   results.csv        a row per trial, target and method (results.h)
///   results.json       the same with the spec, summaries and the similarity of the targets
///   predictions.csv    every prediction of the first trials
///   README.md          the tables
/// Throws InputError that says how many cells are missing.
void merge_experiment(const ExperimentSpec& spec, const std::filesystem::path& out);

}  // namespace tenshot::trainer::evaluation
