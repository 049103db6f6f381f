#include "trainer/evaluation/grid.h"

#include <algorithm>

#include "datasets/tables/network_sources.h"
#include "datasets/tables/space_files.h"
#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"
#include "trainer/predictors/described/descriptor_prior.h"
#include "trainer/predictors/maple_edge/descriptor_features.h"
#include "trainer/predictors/registry.h"

namespace tenshot::trainer::evaluation {
namespace {

bool fits_any(const std::string& id, const std::vector<std::string>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const auto& pattern) { return fits_pattern(id, pattern); });
}

/// The ids that fit any of the patterns, in the pool's order. Throws InputError for a pattern that fits none.
std::vector<std::string> matching(const datasets::Pool& pool, const std::vector<std::string>& patterns,
                                  const std::string& what) {
  const std::vector<std::string> ids = datasets::device_ids(pool);
  for (const std::string& pattern : patterns) {
    if (std::any_of(ids.begin(), ids.end(), [&](const std::string& id) { return fits_pattern(id, pattern); })) continue;
    throw InputError(what + " '" + pattern + "' is not in the data, which has: " + joined(ids));
  }
  std::vector<std::string> chosen;
  std::copy_if(ids.begin(), ids.end(), std::back_inserter(chosen),
               [&](const auto& id) { return fits_any(id, patterns); });
  return chosen;
}

/// The pool on some of its rows: architectures in order of first appearance.
datasets::Pool rows_of(const datasets::Pool& pool, const datasets::RowRange& rows) {
  const std::vector<Architecture> all = datasets::latency_matrix(pool).architectures;
  const auto place = [&](long long row) { return all.begin() + std::min(row, static_cast<long long>(all.size())); };
  const nasbench::ArchitectureSet inside(place(rows.begin), place(rows.end));
  datasets::Pool chosen = pool;
  for (datasets::DeviceRuntime& device : chosen.devices) {
    const auto outside = [&](const datasets::Measurement& row) { return inside.count(row.architecture) == 0; };
    device.latencies.erase(std::remove_if(device.latencies.begin(), device.latencies.end(), outside),
                           device.latencies.end());
  }
  return chosen;
}

bool is_member(const PoolStrategy& strategy, const datasets::DeviceRuntime& device,
               const datasets::DeviceRuntime& target) {
  if (strategy.of == "same-runtime") return !target.runtime.empty() && device.runtime == target.runtime;
  if (strategy.of == "other-runtimes") return device.runtime != target.runtime;
  return std::none_of(strategy.families.begin(), strategy.families.end(),  // there are none where `of` is "others"
                      [&](const auto& family) { return fits_any(device.id, family) && fits_any(target.id, family); });
}

/// Pools of one target under a strategy: one, or one a device in turn; empty ones where there is none to be had.
std::vector<std::vector<std::string>> pools_of(const PoolStrategy& strategy, const datasets::Pool& all,
                                               const datasets::DeviceRuntime& target) {
  std::vector<std::string> members;
  for (const auto& family : strategy.families) matching(all, family, "device of a family");  // which refuses others
  for (const std::string& id : matching(all, strategy.devices, "pool device")) {
    if (id != target.id && is_member(strategy, *all.find(id), target)) members.push_back(id);
  }
  if (!strategy.one_at_a_time || members.empty()) return {members};
  std::vector<std::vector<std::string>> singles;
  for (const std::string& id : members) singles.push_back({id});
  return singles;
}

bool answers_unmeasured(const ExperimentData& data, const Method& method, const std::string& target) {
  const datasets::HardwareDescriptor& descriptor = data.train.find(target)->descriptor;
  if (!method.descriptor || method.descriptor_kind() == "inferred") return false;
  const PredictorRow& row = predictor_row(method.predictor);
  if (row.richest_descriptor != "in-network") return row.adapts_by("clones") && descriptor.has_latencies();
  // Operators' counters say nothing of costs that their latencies do not.
  const std::string wanted = method.descriptor_kind() == "counters" ? "latency" : method.descriptor_kind();
  const DescriptorKind kind = structured::kind_for(data.train, wanted);
  return structured::says_something(descriptor, nasbench::structures_of(*data.train.space), kind);
}

/// The model of these members and a method, which is added where no cell had it before.
std::size_t model_for(Experiment& experiment, const std::vector<std::string>& members, const std::string& target,
                      std::size_t m) {
  const Method& method = experiment.spec.methods[m];
  ModelTask task{members, m, method.descriptor_kind(), method.settings, {}};
  if (!method.descriptor) task.descriptor = "inferred";
  if (task.descriptor == "auto" && predictor_row(method.predictor).richest_descriptor != "in-network") {
    std::vector<std::string> described = members;  // what the target lacks, its pool is not described by
    described.push_back(target);
    task.descriptor = std::string(name(common_descriptor_kind(subset(experiment.data.train, described))));
  }
  if (task.settings.contains("descriptor_kind")) task.settings["descriptor_kind"] = task.descriptor;
  if (task.settings.contains("seed")) task.settings["seed"] = experiment.spec.seed;
  const nlohmann::json identity = {method.predictor, members, task.descriptor, task.settings};
  task.key = sha256_hex(identity.dump() + experiment.data.sha256).substr(0, 16);
  std::vector<ModelTask>& models = experiment.models;
  const auto known =
      std::find_if(models.begin(), models.end(), [&](const auto& other) { return other.key == task.key; });
  const auto place = static_cast<std::size_t>(known - models.begin());
  if (known == models.end()) models.push_back(std::move(task));
  return place;
}

/// Adds a cell with each choice of samples, clones and trial that its method has.
void add_choices(Experiment& experiment, GridCell cell) {
  const ExperimentSpec& spec = experiment.spec;
  const Method& method = experiment.method(cell);
  const bool network = predictor_row(method.predictor).adapts_by("clones");
  std::vector<std::string> samplers = method.sampler ? std::vector<std::string>{*method.sampler} : spec.samplers;
  if (method.samples == every_sample) samplers = {"all"};
  const std::vector<std::size_t> samples = method.samples ? std::vector{*method.samples} : spec.samples;
  const auto clones = method.clones || !network ? std::vector{method.clones} : spec.clones;
  for (const std::string& sampler : samplers) {
    for (const std::size_t count : samples) {
      if (count == 0 && !answers_unmeasured(experiment.data, method, cell.target)) continue;
      for (const std::optional<int>& factor : clones) {
        for (int trial = 0; trial < spec.trials; ++trial) {
          cell.sampler = sampler;
          cell.samples = count;
          cell.clones = factor;
          cell.trial = trial;
          experiment.cells.push_back(cell);
        }
      }
    }
  }
}

void add_target(Experiment& experiment, const std::string& target, std::size_t p) {
  const PoolStrategy& strategy = experiment.spec.pools[p];
  const datasets::Pool& all = experiment.data.train;
  for (const auto& members : pools_of(strategy, all, *all.find(target))) {
    if (members.empty()) {
      experiment.notes.push_back(target + " has no pool '" + strategy.name + "'");
      continue;
    }
    for (std::size_t m = 0; m < experiment.spec.methods.size(); ++m) {
      GridCell cell;
      cell.target = target;
      cell.pool = p;
      if (strategy.one_at_a_time) cell.pool_device = members.front();
      cell.method = m;
      cell.model = model_for(experiment, members, target, m);
      add_choices(experiment, cell);
    }
  }
}

ExperimentData load_data(const ExperimentSpec& spec) {
  const DataSource& source = spec.data;
  const nasbench::NetworkSpace* space = source.is_table ? &datasets::named_space(source.space) : nullptr;
  if (!source.networks.empty()) datasets::read_networks(source.networks);
  datasets::WideTableOptions table;
  table.quantity = source.quantity.value_or(datasets::Quantity::latency);
  if (!source.operator_latencies.empty()) {
    table.operator_latencies = datasets::read_operator_latencies(source.networks, source.operator_latencies);
  }
  const datasets::Pool whole = source.is_table ? datasets::Pool() : datasets::read_pool(source.path, source.quantity);
  std::string content;
  const auto read = [&](const datasets::RowRange& rows, const std::string& which) {
    table.rows = rows;
    datasets::Pool pool =
        source.is_table ? datasets::read_wide_table(source.path, *space, table) : rows_of(whole, rows);
    if (std::all_of(pool.devices.begin(), pool.devices.end(), [](const auto& d) { return d.latencies.empty(); })) {
      throw InputError(source.path + ": has no latencies in the " + which + " rows; see 'split' of the spec");
    }
    content += datasets::content_hash(pool);
    return pool;
  };
  ExperimentData data;
  data.train = read(spec.split.train, "training");
  data.test = read(spec.split.test, "test");
  if (spec.split.pool) data.pool = read(*spec.split.pool, "pool's");
  data.sha256 = sha256_hex(content);
  return data;
}

}  // namespace

Experiment load_experiment(const ExperimentSpec& spec) {
  Experiment experiment{spec, load_data(spec)};
  for (const std::string& target : matching(experiment.data.train, spec.targets, "target")) {
    for (const datasets::Pool* rows : {&experiment.data.train, &experiment.data.test}) {
      if (!rows->find(target)->latencies.empty()) continue;
      throw InputError("target '" + target + "' has no latencies in the training rows or in the test rows");
    }
    for (std::size_t p = 0; p < spec.pools.size(); ++p) add_target(experiment, target, p);
  }
  if (!experiment.cells.empty()) return experiment;
  throw InputError("the spec asks for nothing that its data has: " + joined(experiment.notes));
}

datasets::Pool subset(const datasets::Pool& pool, const std::vector<std::string>& ids) {
  datasets::Pool chosen;
  chosen.space = pool.space;
  for (const std::string& id : ids) chosen.devices.push_back(*pool.find(id));
  return chosen;
}

}  // namespace tenshot::trainer::evaluation
