#include "trainer/evaluation/experiment.h"

#include <nlohmann/json.hpp>
#include <set>

#include "nasbench/support/elapsed.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "trainer/core/libtorch.h"
#include "trainer/core/pool_archive.h"
#include "trainer/evaluation/experiment_cell.h"
#include "trainer/evaluation/results.h"
#include "trainer/evaluation/worker_processes.h"
#include "trainer/planning/planning.h"
#include "trainer/predictors/registry.h"

namespace tenshot::trainer::evaluation {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Folder {
  fs::path root;

  fs::path description() const { return root / "experiment.json"; }
  fs::path model(const ModelTask& task) const { return root / "models" / (task.key + ".tenshot"); }
  fs::path cell(std::size_t index) const {
    const std::string number = std::to_string(index);
    return root / "cells" / (std::string(number.size() < 5 ? 5 - number.size() : 0, '0') + number + ".json");
  }
};

json description_of(const Experiment& experiment) {
  return {{"format", "tenshot.results/1"},
          {"spec", experiment.spec.json},
          {"data_sha256", experiment.data.sha256},
          {"versions", version_card()},
          {"cells", experiment.cells.size()}};
}

/// Throws InputError unless `folder` is free for this experiment or has begun the same one.
void claim(const Folder& folder, const json& description, bool may_continue) {
  if (!fs::exists(folder.description())) {
    make_folder(folder.root / "models");
    make_folder(folder.root / "cells");
    write_file_atomically(folder.description(), description.dump(1) + "\n");
    return;
  }
  const std::string path = folder.description().string();
  const json found = json::parse(read_file(folder.description()), nullptr, false);
  if (found.is_discarded()) throw FormatError(path + ": is no description of an experiment; give another --out");
  for (const char* key : {"spec", "data_sha256", "versions"}) {
    if (!found.is_object() || !found.contains(key) || found.at(key) != description.at(key)) {
      throw InputError(path + ": is of another experiment (its " + key + " differs); give another --out");
    }
  }
  if (!may_continue) {
    throw InputError(folder.root.string() +
                     ": this experiment was begun here; --resume goes on, or give another --out");
  }
}

/// Trains a model that cells share into `file`; unfinished training is kept beside it.
ProcessTask training_of(const Experiment& experiment, const ModelTask& model, const fs::path& file) {
  const fs::path state = file.string() + ".partial";
  const auto train = [&experiment, &model, file, state] {
    const LibTorchThreads one(1);
    Archive archive = train_model(experiment, model, state)->to_archive();
    archive.card["experiment"] = experiment.spec.name;  // which says whether it was a quick one
    save(archive, file);
    std::error_code ignored;
    fs::remove(state, ignored);
  };
  const std::string size = std::to_string(model.members.size());
  return {"training " + experiment.spec.methods[model.method].name + " on " + size + " device-runtimes",
          {file, state},
          train};
}

/// "maple-edge on raspi4, pool others, trial 2"
std::string describe(const ExperimentSpec& spec, const GridCell& cell) {
  std::string text = spec.methods[cell.method].name + " on " + cell.target + ", pool " + spec.pools[cell.pool].name;
  if (!cell.pool_device.empty()) text += " (" + cell.pool_device + ")";
  if (cell.samples != every_sample) text += ", " + std::to_string(cell.samples) + " samples by " + cell.sampler;
  if (cell.clones) text += ", K = " + std::to_string(*cell.clones);
  return text + ", trial " + std::to_string(cell.trial + 1);
}

/// What a cell's file says it is of: the experiment, its data and seed, and the cell.
std::string identity_of(const Experiment& experiment, const GridCell& cell) {
  return experiment.spec.name + ", data " + experiment.data.sha256 + ", seed " +
         std::to_string(experiment.spec.seed_of(cell.trial)) + ", " + describe(experiment.spec, cell);
}

ProcessTask running_of(const Experiment& experiment, const GridCell& cell, const fs::path& model, const fs::path& file,
                       PlanningPriors& priors) {
  const auto run = [&experiment, &cell, model, file, &priors] {
    const LibTorchThreads one(1);
    json result = to_json(run_cell(experiment, cell, *load_pool_model(model), priors));
    result["experiment"] = identity_of(experiment, cell);
    write_file_atomically(file, result.dump() + "\n");
  };
  return {describe(experiment.spec, cell), {file}, run};
}

void merge(const Experiment& experiment, const Folder& folder) {
  std::vector<CellResult> results;
  for (std::size_t c = 0; c < experiment.cells.size(); ++c) {
    const fs::path file = folder.cell(c);
    if (!fs::exists(file)) continue;
    const json found = json::parse(read_file(file), nullptr, false);
    const std::string own = identity_of(experiment, experiment.cells[c]);  // earlier versions write the spec's name
    const json stated = found.is_object() ? found.value("experiment", json(own)) : json(own);
    if (stated != own && stated != experiment.spec.name) {
      throw InputError(file.string() + ": is of another experiment, seed or cell; remove it and run with --resume");
    }
    results.push_back(cell_result_from_json(experiment.cells[c], found, file.string()));
  }
  if (results.size() < experiment.cells.size()) {
    throw InputError(folder.root.string() + ": " + std::to_string(experiment.cells.size() - results.size()) + " of " +
                     std::to_string(experiment.cells.size()) +
                     " cells are not finished; run the other shards, or go on with --resume");
  }
  write_results(experiment, results, description_of(experiment), folder.root);
}

}  // namespace

Shard parse_shard(const std::string& text) {
  const std::size_t slash = text.find('/');
  const auto index = parse_integer(text.substr(0, slash));
  const auto count = slash == std::string::npos ? std::nullopt : parse_integer(text.substr(slash + 1));
  constexpr long long most = 1'000'000;
  if (!index || !count || *index < 1 || *count < *index || *count > most) {
    throw InputError("the shard is '" + text + "', expected i/n with i from 1 to n, such as 2/8");
  }
  return {static_cast<int>(*index), static_cast<int>(*count)};
}

void run_experiment(const ExperimentSpec& spec, const ExperimentOptions& options) {
  const Experiment experiment = load_experiment(spec);
  const Folder folder{options.out};
  claim(folder, description_of(experiment), options.resume || options.shard.count > 1);
  PlanningPriors priors;
  std::vector<const GridCell*> cells;  // of the shard: those of a model stay together, so that one shard trains it
  std::set<std::size_t> models;
  std::vector<ProcessTask> trainings, runs;
  for (std::size_t c = 0; c < experiment.cells.size(); ++c) {
    const GridCell& cell = experiment.cells[c];
    if (!options.shard.holds(cell.model) || fs::exists(folder.cell(c))) continue;
    const ModelTask& model = experiment.model(cell);
    const fs::path file = folder.model(model);
    if (models.insert(cell.model).second && !fs::exists(file))
      trainings.push_back(training_of(experiment, model, file));
    runs.push_back(running_of(experiment, cell, file, folder.cell(c), priors));
    cells.push_back(&cell);
  }
  const Clock::time_point start = Clock::now();
  const std::size_t total = trainings.size() + runs.size();
  std::size_t done = 0;
  const auto on_finished = [&](const ProcessTask& task) {
    ++done;
    const double left_s = seconds_since(start) / static_cast<double>(done) * static_cast<double>(total - done);
    options.on_progress({done, total, task.name, left_s});
  };
  const LibTorchThreads loads_libtorch(1);  // now, or each of the processes that are forked would
  run_in_processes(trainings, options.jobs, on_finished, options.go_on);
  for (const GridCell* cell : cells) {
    // Here, so that the processes of the cells find it; what is wrong with a pool is their cells' to say.
    const bool by_pool = cell->samples != 0 && chooses_by_prior(cell->sampler) && !experiment.method(*cell).sampler;
    if (!options.go_on() || !by_pool) continue;
    try {
      prior_of(priors, experiment, *cell);
    } catch (const InputError&) {
    }
  }
  run_in_processes(runs, options.jobs, on_finished, options.go_on);
  if (options.shard.count == 1) merge(experiment, folder);
}

void merge_experiment(const ExperimentSpec& spec, const fs::path& out) {
  const Experiment experiment = load_experiment(spec);
  const Folder folder{out};
  if (!fs::exists(folder.description())) throw InputError(out.string() + ": holds no experiment; run its shards first");
  claim(folder, description_of(experiment), true);
  merge(experiment, folder);
}

}  // namespace tenshot::trainer::evaluation
