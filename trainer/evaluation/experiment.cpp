#include "trainer/evaluation/experiment.h"

#include <nlohmann/json.hpp>
#include <set>

#include "nasbench/support/elapsed.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/temporaries.h"
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

json description_of(const ExperimentSpec& spec, const ExperimentData& data, const Grid& grid) {
  return {{"format", "tenshot.results/1"},
          {"spec", spec.json},
          {"data_sha256", data.sha256},
          {"versions", version_card()},
          {"cells", grid.cells.size()}};
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
  json found;
  try {
    found = json::parse(read_file(folder.description()));
  } catch (const json::exception&) {
    throw FormatError(path + ": is no description of an experiment; give another --out");
  }
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

/// Reports what is done and how long the rest will take: as the tasks of its kind took so far.
class Progress {
 public:
  Progress(const ExperimentOptions& options, std::size_t total) : options_(options), total_(total) {}

  void finished(const std::string& what) {
    ++done_;
    const double elapsed_s = seconds_since(start_);
    const double left_s = elapsed_s / static_cast<double>(done_) * static_cast<double>(total_ - done_);
    if (options_.on_progress && !options_.on_progress({done_, total_, what, left_s})) stopped_ = true;
  }
  bool go_on() const { return !stopped_ && (!options_.go_on || options_.go_on()); }

 private:
  const ExperimentOptions& options_;
  std::size_t total_;
  std::size_t done_ = 0;
  bool stopped_ = false;
  Clock::time_point start_ = Clock::now();
};

/// What an experiment has to do.
struct Work {
  const ExperimentSpec& spec;
  const ExperimentData& data;
  const Grid& grid;
  const Folder& folder;
  int jobs = 1;
  std::vector<std::size_t> models = {}, cells = {};  ///< of the shard, those that are not finished
};

/// Finds the models and cells of the shard that are not finished.
void find_open(Work& work, const Shard& shard) {
  const Grid& grid = work.grid;
  const Folder& folder = work.folder;
  std::set<std::size_t> needed;
  for (std::size_t c = 0; c < grid.cells.size(); ++c) {
    const std::size_t model = grid.cells[c].model;  // cells of a model stay together: one shard trains it
    if (model % static_cast<std::size_t>(shard.count) + 1 != static_cast<std::size_t>(shard.index)) continue;
    if (fs::exists(folder.cell(c))) continue;
    work.cells.push_back(c);
    needed.insert(model);
  }
  for (const std::size_t model : needed) {
    if (!fs::exists(folder.model(grid.models[model]))) work.models.push_back(model);
  }
}

/// Does the tasks in processes of their own; `files` are those that a task writes.
void run_tasks(ProcessWork work, Progress& progress, const std::function<std::vector<fs::path>(std::size_t)>& files) {
  work.on_killed = [&](std::size_t i, pid_t process) {  // what it left beside a file that it was writing
    std::error_code ignored;
    for (const fs::path& file : files(i)) fs::remove(temporary_name(file, process), ignored);
  };
  work.on_finished = [&](std::size_t i) { progress.finished(work.name(i)); };
  work.go_on = [&] { return progress.go_on(); };
  run_in_processes(work);
}

void train_models(const Work& work, Progress& progress) {
  const auto task_of = [&](std::size_t i) -> const ModelTask& { return work.grid.models[work.models[i]]; };
  const auto files_of = [&](std::size_t i) -> std::vector<fs::path> {
    const fs::path file = work.folder.model(task_of(i));
    return {file, file.string() + ".partial"};
  };
  const auto name = [&](std::size_t i) {
    return "training " + work.spec.methods[task_of(i).method].name + " on " +
           std::to_string(task_of(i).members.size()) + " device-runtimes";
  };
  const auto train = [&](std::size_t i) {
    const LibTorchThreads one(1);
    const fs::path file = files_of(i)[0], state = files_of(i)[1];
    Archive archive = train_model(work.spec, work.data, task_of(i), state)->to_archive();
    archive.card["experiment"] = work.spec.name;  // which says whether it was a quick one
    save(archive, file);
    std::error_code ignored;
    fs::remove(state, ignored);
  };
  run_tasks({work.models.size(), work.jobs, train, name}, progress, files_of);
}

void run_cells(const Work& work, Progress& progress) {
  PlanningPriors priors(work.data);
  for (const std::size_t c : work.cells) {
    // Here, so that the processes of the cells find it; what is wrong with a pool is their cells' to say.
    if (!progress.go_on() || !chooses_by_pool_prior(work.spec, work.grid.cells[c])) continue;
    try {
      priors.of(work.grid.models[work.grid.cells[c].model].members);
    } catch (const InputError&) {
    }
  }
  const auto cell_of = [&](std::size_t i) -> const GridCell& { return work.grid.cells[work.cells[i]]; };
  const auto file_of = [&](std::size_t i) { return work.folder.cell(work.cells[i]); };
  const auto run = [&](std::size_t i) {
    const LibTorchThreads one(1);
    const ModelTask& task = work.grid.models[cell_of(i).model];
    const std::unique_ptr<PoolModel> model = load_pool_model(work.folder.model(task));
    json result = to_json(run_cell(work.spec, work.data, task, *model, cell_of(i), priors));
    result["experiment"] = work.spec.name;
    write_file_atomically(file_of(i), result.dump() + "\n");
  };
  const auto name = [&](std::size_t i) { return describe(work.spec, cell_of(i)); };
  run_tasks({work.cells.size(), work.jobs, run, name}, progress,
            [&](std::size_t i) { return std::vector<fs::path>{file_of(i)}; });
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
  const ExperimentData data = load_data(spec);
  const Grid grid = make_grid(spec, data);
  const Folder folder{options.out};
  claim(folder, description_of(spec, data, grid), options.resume || options.shard.count > 1);
  Work work{spec, data, grid, folder, options.jobs};
  find_open(work, options.shard);
  Progress progress(options, work.models.size() + work.cells.size());

  const LibTorchThreads loads_libtorch(1);  // now, or each of the processes that are forked would
  train_models(work, progress);
  run_cells(work, progress);

  if (options.shard.count == 1) merge_experiment(spec, options.out);
}

void merge_experiment(const ExperimentSpec& spec, const fs::path& out) {
  const ExperimentData data = load_data(spec);
  const Grid grid = make_grid(spec, data);
  const Folder folder{out};
  const json description = description_of(spec, data, grid);
  if (!fs::exists(folder.description())) throw InputError(out.string() + ": holds no experiment; run its shards first");
  claim(folder, description, true);
  std::vector<CellResult> results;
  std::size_t missing = 0;
  for (std::size_t c = 0; c < grid.cells.size(); ++c) {
    const fs::path file = folder.cell(c);
    if (!fs::exists(file)) {
      ++missing;
      continue;
    }
    const json cell = json::parse(read_file(file), nullptr, false);
    results.push_back(cell_result_from_json(cell, file.string()));
  }
  if (missing > 0) {
    throw InputError(out.string() + ": " + std::to_string(missing) + " of " + std::to_string(grid.cells.size()) +
                     " cells are not finished; run the other shards, or go on with --resume");
  }
  write_results({spec, data, grid, results, description}, out);
}

}  // namespace tenshot::trainer::evaluation
