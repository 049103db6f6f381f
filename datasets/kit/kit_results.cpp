#include "datasets/kit/kit_results.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "datasets/kit/board_results.h"
#include "datasets/pool/device_file.h"
#include "descriptor/machine/machine.h"
#include "descriptor/timing/timing.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"

namespace tenshot::datasets {
namespace {

class Reader {
 public:
  Reader(const std::filesystem::path& folder, Quantity quantity) : results_folder_(folder / "results") {
    results_.quantity = quantity;
    results_.manifest = read_kit_manifest(folder);
    results_.run = read_notes(results_folder_ / "kit.txt");
    results_.quantities = read_notes(results_folder_ / "quantities.txt");
    results_.before = read_notes(results_folder_ / "before.txt");
    results_.after = read_notes(results_folder_ / "after.txt");
  }

  KitResults read() {
    find_clock_level();
    for (const KitModel& model : results_.manifest.models) {
      ++(model.is_operator() ? planned_operators_ : model.chain ? planned_chains_ : results_.planned);
      const std::optional<descriptor::Timing> timing = read_model(model);
      if (!timing) continue;
      if (model.is_operator()) {
        operators_.push_back({model.operator_name, model.key, timing->median_ms, {}});
      } else if (model.chain) {
        chains_.push_back({*model.chain, timing->median_ms});
      } else if (results_.quantity != Quantity::latency) {
        read_noted(model);
      } else {
        results_.latencies.push_back({model.architecture, timing->median_ms, timing->stddev_ms, timing->runs});
        results_.times_ms.push_back(std::move(times_));
      }
    }
    if (results_.quantity == Quantity::latency) read_descriptor();
    if (results_.latencies.empty()) {
      throw InputError(results_folder_.string() + ": nothing was measured; " +
                       (results_.run.empty()        ? "run measure.sh on the device and copy results/ back"
                        : results_.findings.empty() ? "the kit holds no architecture"
                                                    : results_.findings.front().message));
    }
    return std::move(results_);
  }

 private:
  void find(KitProblem problem, const KitModel* model, const std::string& detail, bool left_out) {
    std::string message = model == nullptr ? "" : model->id;
    if (model != nullptr && model->is_architecture()) {
      message += " (" + results_.manifest.space->format(model->architecture) + ")";
    }
    message += (model == nullptr ? "" : ": ") + std::string(name(problem));
    message += (detail.empty() ? "" : ": " + detail) + (left_out ? "; left out" : "");
    results_.findings.push_back({problem, std::move(message)});
  }

  std::nullopt_t leave_out(KitProblem problem, const KitModel& model, const std::string& detail) {
    find(problem, &model, detail, true);
    return std::nullopt;
  }

  static NotedClocks clocks_of(const KitNotes& meta) {
    return {parse_integer(note(meta, "clocks_before")), parse_integer(note(meta, "clocks_after")),
            note(meta, "clocks_moved") == "no", note(meta, "clocks_fixed") != "no"};
  }

  void find_clock_level() {
    std::vector<NotedClocks> clocks;
    for (const KitModel& model : results_.manifest.models) {
      if (!model.is_architecture()) continue;
      clocks.push_back(clocks_of(read_notes(results_folder_ / model.id / "meta.txt")));
    }
    results_.clock_level = clock_level(clocks).value_or(0);
    clocks.erase(std::remove_if(clocks.begin(), clocks.end(), [](const auto& c) { return !c.before || !c.fixed; }),
                 clocks.end());
    if (results_.clock_level > 0 || clocks.size() < 2) return;
    const auto [least, most] = std::minmax_element(clocks.begin(), clocks.end(),
                                                   [](const auto& a, const auto& b) { return *a.before < *b.before; });
    find(KitProblem::clocks_moved, nullptr,
         "from " + std::to_string(*least->before) + " to " + std::to_string(*most->before) +
             ", and none is that of most: what was measured at one clock tells little of another; fix them and measure "
             "again",
         false);
  }

  std::optional<descriptor::Timing> read_model(const KitModel& model) {
    const std::filesystem::path folder = results_folder_ / model.id;
    if (is_file(folder / "failed.txt")) {
      const std::string why = descriptor::first_line(folder / "failed.txt").value_or("");
      return leave_out(KitProblem::failed, model, excerpt(why, 200));
    }
    const KitNotes meta = read_notes(folder / "meta.txt");
    // What the user did not convert was not to be measured.
    const bool converted = !note(results_.run, "converted").empty();
    if (meta.empty() && converted && model.converted_sha256.empty() && !model.is_architecture()) return std::nullopt;
    if (meta.empty()) return leave_out(KitProblem::not_measured, model, "");
    if (note(meta, "sha256") != (converted ? model.converted_sha256 : model.sha256)) {
      return leave_out(KitProblem::other_model, model,
                       "the results are of a model with hash '" + excerpt(note(meta, "sha256"), 12) + "…'");
    }
    const NotedClocks clocks = clocks_of(meta);
    if (results_.clock_level > 0 && !is_at_level(clocks, results_.clock_level)) {
      return leave_out(KitProblem::other_clock, model,
                       in_words(clocks, results_.clock_level) + "; run measure.sh again to measure it anew");
    }
    descriptor::Timing timing;
    try {
      times_ = read_times(folder, meta);
      timing = descriptor::summarise(times_);
    } catch (const Error& error) {
      return leave_out(KitProblem::unreadable, model, error.what());
    }
    judge(model, meta, timing);
    return timing;
  }

  void read_noted(const KitModel& model) {
    const KitNotes meta = read_notes(results_folder_ / model.id / "meta.txt");
    const std::string key = column(results_.quantity), text = note(meta, key);
    const LatencyEntry entry = parse_latency(text);
    if (!entry.problem) {
      results_.latencies.push_back({model.architecture, entry.latency_ms});
    } else if (*entry.problem == Problem::missing) {
      std::string why = note(results_.quantities, std::string(name(results_.quantity)) + "_missing");
      if (why.empty() && note(meta, std::string(name(results_.quantity))) == "failed")
        why = "its reading failed; remove results/" + model.id + " and run measure.sh again";
      if (why.empty() && results_.quantity == Quantity::cold) why = "run measure.sh --cold 5 on the device";
      leave_out(KitProblem::not_measured, model, key + (why.empty() ? "" : " (" + why + ")"));
    } else {
      leave_out(KitProblem::unreadable, model, key + " is '" + excerpt(text) + "'");
    }
  }

  void judge(const KitModel& model, const KitNotes& meta, const descriptor::Timing& timing) {
    if (model.is_architecture() && note(meta, "aggregated") == "yes") ++results_.aggregated;
    const double spread = timing.interquartile_range_ms / timing.median_ms;
    // What costs next to nothing spreads widely on every clock, and little depends on one operator or chain.
    const bool counts = model.is_architecture() && results_.quantity == Quantity::latency;
    if (spread > kit_tolerated_spread && counts) {
      find(KitProblem::wide_spread, &model,
           "the middle half of its times spans " + std::to_string(static_cast<int>(std::lround(100 * spread))) +
               " % of their median",
           false);
    }
    const bool clock_moved = note(meta, "clocks_moved") == "yes",
               sentinel_moved = note(meta, "sentinel_moved") == "yes";
    const bool unsettled = sentinel_moved || (clock_moved && note(meta, "clocks_fixed") != "no");
    if (model.is_architecture() && unsettled) ++results_.unsettled;
    if (clock_moved) {
      find(KitProblem::clocks_moved, &model,
           note(meta, "clocks_before") + " before, " + note(meta, "clocks_after") + " after", false);
    }
    if (sentinel_moved) {
      find(KitProblem::clocks_moved, &model,
           "the sentinel took " + note(meta, "sentinel_ms") + " ms, over 5 % more than at its fastest", false);
    }
  }

  /// Whether there are models of a kind, and all of them were measured; a finding when some are missing.
  bool all_measured(std::size_t all, std::size_t measured, const std::string& what) {
    if (measured < all) {
      find(KitProblem::no_descriptor, nullptr,
           std::to_string(all - measured) + " of " + std::to_string(all) + " " + what + " have no latency", false);
    }
    return all > 0 && measured == all;
  }

  /// The operator latencies, alone and inside a network, with counters where perf counted all of them.
  void read_descriptor() {
    if (!all_measured(planned_operators_, operators_.size(), "operators")) return;
    results_.descriptor.source = "latency_only";
    results_.descriptor.operators = operators_;
    read_in_network();
    const std::string missing = note(read_notes(results_folder_ / "perf.txt"), "missing");
    if (!missing.empty()) {
      find(KitProblem::no_descriptor, nullptr, "no counters (" + missing + "), operator latencies only", false);
      return;
    }
    read_counters();
  }

  void read_in_network() {
    if (!all_measured(planned_chains_, chains_.size(), "chains and surroundings of operations")) return;
    HardwareDescriptor& descriptor = results_.descriptor;
    descriptor.in_network = in_network_latencies(chains_);
    if (!descriptor.has_in_network()) return;
    const auto chain = std::find_if(chains_.begin(), chains_.end(),
                                    [](const ChainLatency& latency) { return !latency.network.is_surroundings(); });
    descriptor.conditions["in_network"] = chain_condition(chain->network.repeats) + ", one after the other";
  }

  void read_counters() {
    std::vector<std::vector<double>> counts;
    std::size_t known = 0;
    for (const KitModel& model : results_.manifest.models) {
      if (!model.is_operator()) continue;
      counts.push_back(counted_events(results_folder_ / model.id, scaled_));
      known += static_cast<std::size_t>(
          std::count_if(counts.back().begin(), counts.back().end(), [](double count) { return !std::isnan(count); }));
    }
    if (known == 0) {
      find(KitProblem::no_descriptor, nullptr, "perf counted nothing, operator latencies only", false);
      return;
    }
    HardwareDescriptor& descriptor = results_.descriptor;
    descriptor.source = "perf_stat";
    descriptor.counters.assign(default_counters.begin(), default_counters.end());
    for (std::size_t i = 0; i < counts.size(); ++i) descriptor.operators[i].counts = std::move(counts[i]);
    if (!scaled_.empty()) descriptor.conditions["scaled_events"] = joined(scaled_);
  }

  std::filesystem::path results_folder_;
  KitResults results_;
  std::size_t planned_operators_ = 0, planned_chains_ = 0;
  std::vector<double> times_;  ///< of the model that was read last
  std::vector<OperatorProfile> operators_;
  std::vector<ChainLatency> chains_;
  std::set<std::string> scaled_;
};

}  // namespace

std::string_view name(KitProblem problem) {
  constexpr std::array<std::string_view, 8> names = {
      "not measured",   "failed on the device", "measured from another model file", "unreadable result",
      "unsteady times", "the clocks moved",     "ran at another clock than most",   "no full hardware descriptor"};
  return names[static_cast<std::size_t>(problem)];
}

KitResults read_kit_results(const std::filesystem::path& folder, Quantity quantity) {
  return Reader(folder, quantity).read();
}

DeviceRuntime device_of(const KitResults& results, const std::string& id) {
  if (!is_device_id(id))
    throw InputError("'" + excerpt(id) + "' cannot name a device: expected " + std::string(device_id_rule));
  DeviceRuntime device;
  device.id = id;
  device.device = note(results.before, "board");
  if (device.device.empty()) device.device = note(results.before, "machine");
  if (device.device.empty()) device.device = id;
  device.runtime = note(results.run, "backend");
  device.precision = note(results.run, "precision");
  device.batch = results.manifest.batch;
  device.threads = static_cast<int>(parse_integer(note(results.run, "threads")).value_or(0));
  device.input_shape = results.manifest.space->input_shape(results.manifest.shape);
  nlohmann::json environment = {
      {"kit", results.manifest.id}, {"run", results.run}, {"before", results.before}, {"after", results.after}};
  if (results.unsettled > 0) environment["unsettled_architectures"] = results.unsettled;
  if (results.aggregated > 0) {
    environment["aggregated"] = {{"measurements", results.aggregated},
                                 {"meaning", "one average or median that the tool printed, without a spread"}};
  }
  if (results.quantity != Quantity::latency) environment["quantities"] = results.quantities;
  device.environment = environment.dump();
  device.quantity = results.quantity;
  if (results.quantity == Quantity::latency) device.descriptor = results.descriptor;
  device.latencies = results.latencies;
  return device;
}

std::string default_device_id(const KitResults& results) {
  const auto part = [](const std::string& text, const std::string& otherwise) {
    std::string id;
    for (const char c : text.empty() ? otherwise : text) id += is_device_id(id + c) ? c : '-';
    return id.substr(0, 40);
  };
  const std::string threads = note(results.run, "threads"), optimization = note(results.run, "optimization");
  return part(note(results.run, "backend"), "kit") + "_" + part(note(results.run, "precision"), "fp32") +
         (threads.empty() ? "" : "_t" + part(threads, "")) + "_b" + std::to_string(results.manifest.batch) +
         (optimization.empty() ? "" : "_" + part(optimization, ""));
}

}  // namespace tenshot::datasets
