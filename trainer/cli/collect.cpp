#include <algorithm>
#include <cmath>
#include <iostream>

#include "datasets/collect/collect_descriptor.h"
#include "datasets/collect/collect_energy.h"
#include "datasets/collect/collect_operators.h"
#include "datasets/collect/collect_record.h"
#include "datasets/collect/collect_starts.h"
#include "descriptor/machine/memory.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/spaces/search_space.h"
#include "nasbench/support/elapsed.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/words.h"
#include "trainer/cli/shared_options.h"
#include "trainer/cli/signals.h"

namespace tenshot::cli {
namespace {

using datasets::Quantity;

/// How many architectures `--archs` asks for; nothing where it is a file.
std::optional<std::size_t> number_of(const std::string& archs) {
  const auto count = parse_integer(archs);
  if (!count || std::filesystem::exists(archs)) return std::nullopt;
  if (*count < 1) throw UsageError("--archs is a file, or a number of at least 1");
  return static_cast<std::size_t>(*count);
}

/// `--archs` is a file of architectures, or how many to draw: the first N of a fixed order, so that every
/// device-runtime measures the same ones and a larger N extends a smaller one.
std::vector<nasbench::Architecture> architectures_of(const OptionParser& options, const std::string& archs,
                                                     const nasbench::NetworkSpace& space, std::uint64_t seed) {
  const std::optional<std::size_t> wanted = number_of(archs);
  if (!wanted) return usable_architectures(options, archs, space);
  Rng rng(seed);
  const nasbench::SearchSpace& decided = nasbench::search_space(space);
  std::vector<nasbench::Architecture> drawn;
  if (decided.listable()) {
    drawn = decided.all();
    rng.shuffle(drawn);
    drawn.resize(std::min(drawn.size(), *wanted));
    return drawn;
  }
  nasbench::ArchitectureSet known;
  while (drawn.size() < *wanted) {  // the space has far more than that
    nasbench::Architecture architecture = decided.random(rng);
    if (known.insert(architecture).second) drawn.push_back(std::move(architecture));
  }
  return drawn;
}

void say_of_starts(const datasets::DeviceRuntime& device) {
  const auto environment = nlohmann::json::parse(device.environment);
  const auto count = [&](const char* key) { return environment.value(key, 0U); };
  const unsigned kept = count("starts_with_cached_pages"), all = kept + count("starts_from_disk");
  std::string text = std::to_string(all) + " starts";
  text += kept == 0 ? ", the page cache of the weights dropped before each"
                    : ", of " + std::to_string(kept) +
                          " the system kept pages of the weights in memory: those did not read them from disk";
  if (count("disturbed_starts") > 0) {
    text += "; " + std::to_string(count("disturbed_starts")) + " were disturbed by other programs";
  }
  if (environment.contains("runtime_memory_mib") && environment["runtime_memory_mib"].is_number()) {
    text += "; the runtime with an empty network takes " +
            shortest(std::round(10 * environment["runtime_memory_mib"].get<double>()) / 10) + " MiB";
  }
  say(text);
  for (const auto& entry : environment.value("left_out", nlohmann::json::array())) {
    say(entry.at("architecture").get<std::string>() + ": left out: " + entry.at("reason").get<std::string>());
  }
}

/// Measures cold starts or memory of architectures of `space`, be it networks by name, as `collect` says.
datasets::DeviceRuntime collect_starts(const OptionParser& options, datasets::Quantity quantity,
                                       const nasbench::NetworkSpace& space, const datasets::CollectOptions& collect,
                                       const datasets::CollectProgress& progress) {
  datasets::CollectStartsOptions starts;
  starts.quantity = quantity;
  starts.command = {own_program(), "run-network"};
  for (const char* option : {"runtime", "threads", "batch", "seed", "space", "isa"}) {
    starts.command.insert(starts.command.end(), {"--" + std::string(option), options.get(option)});
  }
  starts.command.insert(starts.command.end(), {"--resolution", std::to_string(collect.shape.resolution)});
  for (const std::string& shape : options.all("shape")) starts.command.insert(starts.command.end(), {"--shape", shape});
  if (quantity == datasets::Quantity::memory) {
    starts.minimum_starts = 3;
    starts.maximum_starts = 7;
    starts.relative_precision = 0.01;
  }
  if (options.has("runs")) {
    starts.maximum_starts = options.integer("runs", 1);
    starts.minimum_starts = std::min(starts.minimum_starts, starts.maximum_starts);
  }
  // What else the machine does changes times, and not memory.
  const int usual_rounds = quantity == datasets::Quantity::cold ? std::min(3, starts.minimum_starts) : 1;
  starts.rounds = options.has("rounds") ? options.integer("rounds", 1) : usual_rounds;
  starts.collect = collect;
  datasets::DeviceRuntime device = datasets::collect_starts(starts, space, progress);
  say_of_starts(device);
  return device;
}

/// "12 of 50 architectures; 3 min left; note": the time that the rest takes at the pace since the start.
struct Pace {
  std::optional<Clock::time_point> started;
  std::size_t first_done = 0;

  std::string text(std::size_t done, std::size_t total, const std::string& note) {
    if (!started || done < first_done) {
      started = Clock::now();
      first_done = done;
    }
    std::string text = std::to_string(done) + " of " + std::to_string(total) + " architectures";
    if (done > first_done && done < total) {
      const double each_s = seconds_since(*started) / static_cast<double>(done - first_done);
      text += "; " + duration(each_s * static_cast<double>(total - done)) + " left";
    }
    return note.empty() ? text : text + "; " + note;
  }
};

/// The networks of --networks: all of them, those that a file of --archs names, or the first N.
std::vector<nasbench::Architecture> named_networks(const OptionParser& options,
                                                   const datasets::CollectOptions& collect) {
  for (const char* option : {"space", "resolution", "descriptor"}) {
    if (!options.has(option)) continue;
    if (std::string(option) == "space" && options.get("space") == nasbench::networks().name()) continue;
    throw UsageError("--" + std::string(option) + " does not go with --networks, whose files say what they are");
  }
  nasbench::NetworkReadOptions read = read_options(options);
  read.batch = collect.runtime_options.batch;
  std::vector<nasbench::Architecture> all = networks_of(options, read);
  const std::string archs = options.has("archs") ? options.get("archs") : "";
  const std::optional<std::size_t> wanted = number_of(archs);
  if (!archs.empty() && !wanted) all = usable_architectures(options, archs, nasbench::networks());
  // One that is known by its operators alone, or whose first dimension is not the batch, cannot be run.
  leave_out(options, all, [&](const nasbench::Architecture& network) -> std::optional<std::string> {
    try {
      nasbench::networks().computation(network, collect.shape, read.batch);
      return std::nullopt;
    } catch (const InputError& error) {
      return error.what();
    }
  });
  if (wanted) all.resize(std::min(all.size(), *wanted));
  return all;
}

/// Measures the operators of the networks that the device-runtime has, beside its latencies.
void measure_operators(const datasets::CollectOptions& collect, const datasets::DeviceRuntime& device,
                       const datasets::CollectProgress& progress) {
  std::vector<datasets::NetworkToMeasure> networks;
  for (const datasets::Measurement& row : device.latencies) {
    if (nasbench::named_network(row.architecture).read_again == nullptr) continue;  // of an earlier call
    networks.push_back(
        {nasbench::networks().format(row.architecture),
         nasbench::networks().computation(row.architecture, collect.shape, collect.runtime_options.batch)});
  }
  datasets::CollectOperatorsOptions options;
  options.runtime = collect.runtime_options;
  options.runs = std::min(options.runs, collect.timing.maximum_runs);
  options.file = collect.folder / device.id / "operators.csv";
  const auto runtime = descriptor::make_runtime(collect.runtime);
  const std::vector<datasets::KernelRow> rows = datasets::collect_operators(*runtime, networks, options, progress);
  const auto refused = std::count_if(rows.begin(), rows.end(), [](const auto& row) { return !row.refused.empty(); });
  say_written(options.file.string(),
              std::to_string(rows.size()) + " operators, " + std::to_string(refused) + " of them without a time",
              "tenshot kernels train --kernels " + shell_word(options.file) + " --out kernels.tenshot");
}

/// Adds all other options to `collect`, which has those of runtime_choice().
datasets::CollectOptions collect_options(const OptionParser& options, datasets::CollectOptions collect,
                                         const nasbench::NetworkSpace& space) {
  collect.folder = options.required("out");
  if (options.has("id")) collect.id = options.get("id");
  // Measuring adds to the device-runtimes of its folder: what says which networks must not be one of these files.
  FileRoles files;
  const std::string archs = options.get("archs");
  if (archs == "-" || std::filesystem::exists(archs)) files.reads("--archs", archs);
  files.reads_networks(options);
  files.writes_devices("--out", collect.folder);
  collect.timing.rounds = options.integer("rounds", 1);
  collect.batch_size = options.integer("turn", 1);
  collect.timing.maximum_runs = options.integer("runs", 1);
  collect.timing.minimum_runs = (collect.timing.maximum_runs + 1) / 2;
  collect.sentinel_tolerance = options.get<double>("tolerance");
  collect.attempts = options.integer("attempts", 1);
  collect.patience_s = options.integer("patience", 0);
  collect.descriptor.wanted = options.has("descriptor");
  collect.descriptor.counters = options.get("counters");
  if (options.has("events")) collect.descriptor.events = filled_parts(options.get("events"));
  if (collect.descriptor.events.empty()) throw UsageError("--events names no event");
  collect.descriptor.passes = options.integer("passes", 0);
  collect.descriptor.program = own_program();
  collect.repeat_check = options.has("repeat-check");
  collect.architectures = options.has("networks")
                              ? named_networks(options, collect)
                              : architectures_of(options, archs, space, collect.runtime_options.weight_seed);
  return collect;
}

/// The last line: the device-runtime in the folder `pool`, and how to adapt to it; with --json what it is.
void tell_collected(const std::filesystem::path& pool, const datasets::DeviceRuntime& device,
                    const OptionParser& options) {
  const bool of_latencies = device.quantity == Quantity::latency;
  const std::string folder = (pool / device.id).string();
  const std::string more = (of_latencies ? "" : " --quantity " + std::string(name(device.quantity))) +
                           (options.has("networks") ? " --networks " + shell_word(options.get("networks")) : "");
  say_written(folder,
              "device-runtime of " + std::to_string(device.latencies.size()) + " architectures" +
                  (of_latencies ? "" : ", " + datasets::column(device.quantity)),
              "tenshot adapt --measurements " + shell_word(folder) + more + " --out device.tenshot");
  if (!options.has("json")) return;
  nlohmann::json found = {{"id", device.id},
                          {"folder", folder},
                          {"architectures", device.latencies.size()},
                          {"environment", nlohmann::json::parse(device.environment)}};
  if (of_latencies) {
    found.update({{"descriptor", device.descriptor.source}, {"simulated", device.descriptor.simulated()}});
  } else {
    found["quantity"] = name(device.quantity);
  }
  std::cout << found.dump(2) << "\n";
}

/// What --cold and --quantity ask for. Throws UsageError where they, or options of latencies, contradict each other.
Quantity collected_quantity(const OptionParser& options) {
  const Quantity asked = quantity_option(options).value_or(options.has("cold") ? Quantity::cold : Quantity::latency);
  if (options.has("cold") && asked != Quantity::cold) {
    throw UsageError("--cold is --quantity cold, not " + std::string(name(asked)));
  }
  if (asked != Quantity::latency) {
    options.require_of({},
                       {"descriptor", "operators", "counters", "events", "passes", "attempts", "patience", "tolerance",
                        "repeat-check"},
                       "--quantity " + std::string(name(asked)));
    if (asked == Quantity::energy) options.require_of({}, {"rounds"}, "--quantity energy");
  }
  return asked;
}

}  // namespace

void run_collect(const OptionParser& options) {
  const Quantity quantity = collected_quantity(options);
  const auto [of_runtime, space_of_cells] = runtime_choice(options);
  const bool by_name = options.has("networks");
  const nasbench::NetworkSpace& space = by_name ? nasbench::networks() : *space_of_cells;
  datasets::CollectOptions collect = collect_options(options, of_runtime, space);
  if (collect.descriptor.wanted) {
    const datasets::CounterChoice counters = datasets::choose_counters(collect.descriptor);
    collect.descriptor.counters = counters.source;
    if (!counters.reason.empty()) say(counters.reason);
  }
  MadeFolders made;
  made.folder(collect.folder);
  ProgressLine progress;
  Pace pace;
  const datasets::CollectProgress show = [&](std::size_t done, std::size_t total, const std::string& note) {
    progress.show(pace.text(done, total, note));
    return !stop_requested();
  };
  if (options.has("operators") && !by_name) {
    throw UsageError(
        "--operators goes with --networks; the operators of a search space are what --descriptor measures");
  }
  datasets::DeviceRuntime device;
  if (quantity == Quantity::latency) {
    descriptor::keep_heap();
    device = datasets::collect(collect, space, show);
    const datasets::CollectRecord record = datasets::record_of(device, "device '" + device.id + "'");
    const auto line_of = [](const auto& network) { return network.architecture + ": left out: " + network.reason; };
    say_first(record.left_out, line_of, record.left_out.size(), ", named in device.json");
    say(datasets::to_text(record));
    if (options.has("operators")) measure_operators(collect, device, show);
  } else if (quantity == Quantity::energy) {
    device = datasets::collect_energy(collect, space, show);
  } else {
    device = collect_starts(options, quantity, space, collect, show);
  }
  tell_collected(collect.folder, device, options);
}

}  // namespace tenshot::cli
