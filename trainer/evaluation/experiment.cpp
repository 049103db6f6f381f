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

/// Trains the models and runs the cells of one shard that are not finished yet.
class Run {
 public:
  Run(const Experiment& experiment, const Folder& folder, const ExperimentOptions& options)
      : experiment_(experiment), folder_(folder), options_(options) {
    find_open();
    total_ = models_.size() + cells_.size();
  }

  void train_models() {
    const auto task_of = [&](std::size_t i) -> const ModelTask& { return experiment_.models[models_[i]]; };
    const auto files_of = [&](std::size_t i) -> std::vector<fs::path> {
      const fs::path file = folder_.model(task_of(i));
      return {file, file.string() + ".partial"};
    };
    const auto name = [&](std::size_t i) {
      return "training " + experiment_.spec.methods[task_of(i).method].name + " on " +
             std::to_string(task_of(i).members.size()) + " device-runtimes";
    };
    const auto train = [&](std::size_t i) {
      const LibTorchThreads one(1);
      const fs::path file = files_of(i)[0], state = files_of(i)[1];
      Archive archive = train_model(experiment_, task_of(i), state)->to_archive();
      archive.card["experiment"] = experiment_.spec.name;  // which says whether it was a quick one
      save(archive, file);
      std::error_code ignored;
      fs::remove(state, ignored);
    };
    run_tasks({models_.size(), options_.jobs, train, name, files_of});
  }

  void run_cells() {
    PlanningPriors priors(experiment_.data);
    for (const std::size_t c : cells_) {
      // Here, so that the processes of the cells find it; what is wrong with a pool is their cells' to say.
      const GridCell& cell = experiment_.cells[c];
      if (!go_on() || !chooses_by_pool_prior(experiment_, cell)) continue;
      try {
        priors.of(experiment_.model(cell).members);
      } catch (const InputError&) {
      }
    }
    const auto cell_of = [&](std::size_t i) -> const GridCell& { return experiment_.cells[cells_[i]]; };
    const auto files_of = [&](std::size_t i) { return std::vector<fs::path>{folder_.cell(cells_[i])}; };
    const auto run = [&](std::size_t i) {
      const LibTorchThreads one(1);
      const std::unique_ptr<PoolModel> model = load_pool_model(folder_.model(experiment_.model(cell_of(i))));
      json result = to_json(run_cell(experiment_, cell_of(i), *model, priors));
      result["experiment"] = experiment_.spec.name;
      write_file_atomically(files_of(i)[0], result.dump() + "\n");
    };
    const auto name = [&](std::size_t i) { return describe(experiment_.spec, cell_of(i)); };
    run_tasks({cells_.size(), options_.jobs, run, name, files_of});
  }

 private:
  /// Finds the models and cells of the shard that are not finished.
  void find_open() {
    std::set<std::size_t> needed;
    for (std::size_t c = 0; c < experiment_.cells.size(); ++c) {
      const std::size_t model = experiment_.cells[c].model;  // cells of a model stay together: one shard trains it
      const auto index = static_cast<std::size_t>(options_.shard.index - 1);
      if (model % static_cast<std::size_t>(options_.shard.count) != index) continue;
      if (fs::exists(folder_.cell(c))) continue;
      cells_.push_back(c);
      needed.insert(model);
    }
    for (const std::size_t model : needed) {
      if (!fs::exists(folder_.model(experiment_.models[model]))) models_.push_back(model);
    }
  }

  /// Does the tasks in processes of their own. Says what is done, and how long the rest will take: as the tasks took so
  /// far.
  void run_tasks(ProcessWork work) {
    work.on_finished = [&](std::size_t i) {
      ++done_;
      const double left_s = seconds_since(start_) / static_cast<double>(done_) * static_cast<double>(total_ - done_);
      if (options_.on_progress && !options_.on_progress({done_, total_, work.name(i), left_s})) stopped_ = true;
    };
    work.go_on = [&] { return go_on(); };
    run_in_processes(work);
  }

  bool go_on() const { return !stopped_ && (!options_.go_on || options_.go_on()); }

  const Experiment& experiment_;
  const Folder& folder_;
  const ExperimentOptions& options_;
  std::vector<std::size_t> models_, cells_;  ///< of the shard, those that are not finished
  std::size_t total_ = 0, done_ = 0;
  bool stopped_ = false;
  Clock::time_point start_ = Clock::now();
};

/// Joins the finished cells in `folder`, which holds the experiment.
void merge(const Experiment& experiment, const Folder& folder) {
  std::vector<CellResult> results;
  std::size_t missing = 0;
  for (std::size_t c = 0; c < experiment.cells.size(); ++c) {
    const fs::path file = folder.cell(c);
    if (fs::exists(file)) {
      results.push_back(cell_result_from_json(json::parse(read_file(file), nullptr, false), file.string()));
    } else {
      ++missing;
    }
  }
  if (missing > 0) {
    throw InputError(folder.root.string() + ": " + std::to_string(missing) + " of " +
                     std::to_string(experiment.cells.size()) +
                     " cells are not finished; run the other shards, or go on with --resume");
  }
  write_results({experiment, results, description_of(experiment)}, folder.root);
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
  Run run(experiment, folder, options);
  const LibTorchThreads loads_libtorch(1);  // now, or each of the processes that are forked would
  run.train_models();
  run.run_cells();
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
