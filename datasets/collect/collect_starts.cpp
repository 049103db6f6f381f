#include "datasets/collect/collect_starts.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "datasets/collect/collect_record.h"
#include "datasets/collect/fresh_start.h"
#include "datasets/pool/device_file.h"
#include "datasets/tables/space_files.h"
#include "descriptor/machine/child_process.h"
#include "descriptor/machine/machine.h"
#include "descriptor/machine/memory.h"
#include "descriptor/runtimes/libtorch_runtime.h"
#include "nasbench/graph/onnx.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/temporaries.h"

namespace tenshot::datasets {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* touched = "touched before each start";  ///< of device.json's "free_memory"

class Starts {
 public:
  Starts(const CollectStartsOptions& options, const NetworkSpace& space, const CollectProgress& progress)
      : options_(options),
        space_(space),
        progress_(progress),
        runtime_(descriptor::make_runtime(options.collect.runtime)),
        wanted_(without_duplicates(options.collect.architectures)),
        starts_(options.quantity) {
    require_sensible();
  }

  DeviceRuntime run() {
    describe_conditions();
    resume();
    if (missing() == 0 && environment_.value("complete", false)) return device_;
    const descriptor::CpuPin pin(options_.collect.runtime_options.threads);
    environment_["pinned_cpus"] = pin.cpus();
    environment_["sessions"] = environment_.value("sessions", 0) + 1;
    environment_["complete"] = false;
    save();  // before the first start, so that a folder that cannot be written fails at once
    leave_out_unsupported();
    measure_empty();
    start_in_rounds();
    if (starts_.order().empty()) throw InputError("none of the networks could be started: " + first_reason());
    environment_["complete"] = true;
    save();
    journal_->forget();
    return device_;
  }

 private:
  void require_sensible() const {
    // Another runtime would draw weights of its own (RuntimeOptions::weights), and that is no part of a start.
    const std::vector<std::string> known = descriptor::libtorch_runtime_names();
    if (!reads_onnx(*runtime_) && std::find(known.begin(), known.end(), runtime_->name()) == known.end()) {
      throw InputError(std::string(runtime_->name()) +
                       " does not read weights from a file here; starts of these are: " + joined(known));
    }
    if (options_.rounds > options_.minimum_starts) {
      throw InputError("rounds are " + std::to_string(options_.rounds) + "; expected 1 to " +
                       std::to_string(options_.minimum_starts) + ", so that each of them has a start of a network");
    }
    require_instruction_set(options_.collect.instruction_set);
  }

  nasbench::Network network_of(const Architecture& architecture) const {
    return space_.computation(architecture, options_.collect.shape, options_.collect.runtime_options.batch);
  }

  fs::path folder() const { return options_.collect.folder / device_.id; }
  fs::path table() const { return folder() / measurements_name(options_.quantity); }

  // Conditions and resuming.

  void describe_conditions() {
    const CollectOptions& collect = options_.collect;
    device_ = described_device(collect, space_, *runtime_, options_.quantity);
    environment_ = {{"cpu", descriptor::cpu_model()},
                    {"runtime_version", runtime_->version()},
                    {"instruction_set", collect.instruction_set},
                    {"weight_seed", collect.runtime_options.weight_seed},
                    {"classes", collect.shape.classes},
                    {"starts",
                     {{"minimum", options_.minimum_starts},
                      {"maximum", options_.maximum_starts},
                      {"relative_precision", options_.relative_precision}}}};
    conditions_ = environment_;
    environment_["kernel"] = descriptor::kernel_release();
    environment_["cores"] = descriptor::usable_cpus();
    environment_["started_utc"] = utc_now();
    environment_["free_memory"] = touched;
    environment_["rounds"] = options_.rounds;
    journal_ = std::make_unique<StartJournal>(folder() / "starts.part", space_);
  }

  void resume() {
    const fs::path file = folder() / "device.json";
    if (!fs::exists(file)) {
      if (fs::exists(table())) {
        throw InputError(table().string() +
                         ": measurements without the device.json that says how they were made; choose another folder");
      }
      return;
    }
    const DeviceRuntime found = read_device(folder(), options_.quantity).device;
    require_measured_alike(found, device_, conditions_, file.string());
    environment_ = json::parse(found.environment);
    const std::string memory = environment_.value("free_memory", "as it was");  // of a release that did not touch it
    if (memory == "as it was") environment_["free_memory"] = memory + ", then " + touched;
    starts_.read(table(), space_);
    device_.latencies = found.latencies;
  }

  /// Networks that the runtime does not run, and why, go into the environment.
  void leave_out_unsupported() {
    environment_.erase("left_out");  // who resumes tries them again
    std::vector<Architecture> supported;
    for (const Architecture& architecture : wanted_) {
      try {
        runtime_->require_supported(network_of(architecture), options_.collect.runtime_options);
        supported.push_back(architecture);
      } catch (const InputError& error) {
        leave_out(architecture, error.what());
      }
    }
    if (supported.empty()) throw InputError("none of the networks can be started: " + first_reason());
    wanted_ = std::move(supported);
  }

  void leave_out(const Architecture& architecture, const std::string& reason) {
    environment_["left_out"].push_back({{"architecture", space_.format(architecture)}, {"reason", reason}});
  }

  std::string first_reason() const { return environment_["left_out"][0]["reason"].get<std::string>(); }

  std::size_t missing() const {
    return static_cast<std::size_t>(
        std::count_if(wanted_.begin(), wanted_.end(), [&](const auto& a) { return !starts_.has(a); }));
  }

  void save() {
    environment_["saved_utc"] = utc_now();
    device_.environment = environment_.dump();
    device_.latencies = starts_.measurements();
    write_space_files(options_.collect.folder, space_, starts_.order());
    make_folder(folder());
    write_file_atomically(table(), starts_.to_csv(space_));
    write_file_atomically(folder() / "device.json", to_json(device_, space_).dump(2) + "\n");
  }

  // Measuring.

  /// What progress counts: each network is visited once in a round, and all its visits together make one network.
  std::size_t done() const { return visits_ / static_cast<std::size_t>(options_.rounds); }

  std::string in_round() const {
    return options_.rounds == 1 ? "" : "round " + std::to_string(round_) + " of " + std::to_string(options_.rounds);
  }

  void report(const std::string& note) {
    if (progress_ && !progress_(done(), wanted_.size(), note)) stop();
  }

  [[noreturn]] void stop() const {
    const std::string round = options_.rounds == 1 ? "" : " in " + in_round();
    throw Interrupted("stopped after " + std::to_string(wanted_.size() - missing()) + " of " +
                      std::to_string(wanted_.size()) + " architectures" + round + ", saved in " + folder().string() +
                      "; the same call resumes");
  }

  void start_in_rounds() {
    visits_ = 0;
    for (round_ = 1; round_ <= options_.rounds; ++round_) {
      for (const Architecture& architecture : wanted_) {
        if (!starts_.has(architecture) && left_out_.count(architecture) == 0) measure_or_leave_out(architecture);
        ++visits_;
      }
    }
  }

  FreshStart start(const fs::path& weights, const Architecture& architecture, bool empty) {
    descriptor::ChildProcess child;
    child.command = options_.command;
    child.command.insert(child.command.end(), {"--weights", weights.string()});
    if (empty) child.command.emplace_back("--empty");
    child.command.push_back(space_.search_space() != nullptr
                                ? space_.format(architecture)
                                : fs::absolute(nasbench::named_network(architecture).file).string());
    child.output = folder() / "start.txt";
    child.time_limit_s = options_.time_limit_s;
    child.go_on = [&] { return !progress_ || progress_(done(), wanted_.size(), in_round()); };
    try {
      return start_in_process(child);
    } catch (const Interrupted&) {
      stop();
    }
  }

  void add(const char* counter, std::size_t count) { environment_[counter] = environment_.value(counter, 0U) + count; }

  bool enough(const std::vector<FreshStart>& starts) const {
    if (starts.size() < static_cast<std::size_t>(options_.minimum_starts)) return false;
    if (starts.size() >= static_cast<std::size_t>(options_.maximum_starts)) return true;
    std::vector<double> values;
    for (const FreshStart& one : starts) {
      values.push_back(options_.quantity == Quantity::cold ? one.cold_ms : one.peak_memory_mib.value_or(std::nan("")));
    }
    return descriptor::precise_enough(std::move(values), options_.relative_precision);
  }

  /// What a start reads: the network's weights, or all of it as an ONNX file.
  void write_start_file(const fs::path& path, const nasbench::Network& network) const {
    const descriptor::RuntimeOptions& options = options_.collect.runtime_options;
    if (reads_onnx(*runtime_)) {
      write_file_atomically(path, nasbench::onnx_model(network, {options.weight_seed, "network", true}));
    } else {
      descriptor::write_weights_file(path, network, options.weight_seed);
    }
  }

  bool last_round() const { return round_ == options_.rounds; }

  /// Whether a network has the starts of this round: in the last one, enough of them.
  bool enough_for_now(const StartSample& starts) const {
    const std::size_t rounds = static_cast<std::size_t>(options_.rounds), round = static_cast<std::size_t>(round_);
    const auto share = [&](int of) { return (static_cast<std::size_t>(of) * round + rounds - 1) / rounds; };
    if (starts.all.size() >= share(2 * options_.maximum_starts)) return true;
    return last_round() ? enough(starts.quiet) : starts.quiet.size() >= share(options_.minimum_starts);
  }

  /// Starts of a network in this round, with those of the rounds before it.
  StartSample starts_of(const Architecture& architecture, const nasbench::Network& network, bool empty) {
    StartSample starts = empty ? StartSample() : journal_->of(architecture);
    const fs::path weights = folder() / "model.weights";
    const PassingFile file(weights);
    if (!enough_for_now(starts)) write_start_file(weights, network);
    while (!enough_for_now(starts)) {
      descriptor::touch_free_memory(descriptor::memory_of_start(fs::file_size(weights)));
      const FreshStart last = start(weights, architecture, empty);
      add(last.cached.dropped() ? "starts_from_disk" : "starts_with_cached_pages", 1);
      if (last.contended) add("disturbed_starts", 1);
      if (!empty && options_.rounds > 1) journal_->add(architecture, last);
      starts.add(last);
    }
    return starts;
  }

  /// The starts of a network that count: those that the machine interfered with only where there are not enough others.
  std::vector<FreshStart> counting(const StartSample& starts) {
    if (starts.quiet.size() >= static_cast<std::size_t>(options_.minimum_starts)) return starts.quiet;
    add("disturbed_networks", 1);
    return starts.all;
  }

  static std::vector<double> peaks_mib(const std::vector<FreshStart>& starts) {
    std::vector<double> values;
    for (const FreshStart& one : starts) {
      if (one.peak_memory_mib) values.push_back(*one.peak_memory_mib);
    }
    return values;
  }

  /// What the runtime itself takes, for memory to be counted from.
  void measure_empty() {
    if (environment_.contains("runtime_memory_mib")) return;
    report("the runtime with an empty network");
    const nasbench::Network empty = empty_network(network_of(wanted_.front()));
    round_ = options_.rounds;
    std::vector<double> peaks = peaks_mib(counting(starts_of(wanted_.front(), empty, true)));
    environment_["runtime_memory_mib"] =
        peaks.empty() ? json() : json(descriptor::summarise(std::move(peaks)).median_ms);
  }

  std::vector<double> memories(const std::vector<FreshStart>& starts) const {
    if (!environment_["runtime_memory_mib"].is_number()) return {};
    std::vector<double> values = peaks_mib(starts);
    for (double& value : values) value -= environment_["runtime_memory_mib"].get<double>();
    return values;
  }

  /// A runtime may find out only when it starts that it cannot run a network.
  void measure_or_leave_out(const Architecture& architecture) {
    try {
      measure(architecture);
    } catch (const descriptor::ChildFailed& error) {
      const std::string& said = error.last_words();
      const std::string prefix = "tenshot: ";
      if (said.compare(0, prefix.size(), prefix) != 0) throw;  // killed, or not a word of this program
      leave_out(architecture, said.substr(prefix.size()));
      left_out_.insert(architecture);
    }
  }

  void measure(const Architecture& architecture) {
    report(in_round());
    const StartSample all = starts_of(architecture, network_of(architecture), false);
    if (!last_round()) {
      save();
      return;
    }
    const std::vector<FreshStart> starts = counting(all);
    StartRow row = row_of(starts, memories(starts), options_.quantity);
    if (!(row.value.median_ms > 0)) {
      add("networks_without_a_value", 1);
      throw Error(space_.format(architecture) + " took " + shortest(row.value.median_ms) + " " +
                  std::string(unit(options_.quantity)) +
                  " more than the runtime with an empty network: nothing to say");
    }
    starts_.add(architecture, std::move(row));
    save();
  }

  const CollectStartsOptions& options_;
  const NetworkSpace& space_;
  const CollectProgress& progress_;
  std::unique_ptr<descriptor::Runtime> runtime_;
  std::vector<Architecture> wanted_;
  StartTable starts_;
  std::unique_ptr<StartJournal> journal_;  ///< of starts in rounds
  nasbench::ArchitectureSet left_out_;
  int round_ = 1;
  std::size_t visits_ = 0;
  DeviceRuntime device_;
  json environment_, conditions_;
};

}  // namespace

DeviceRuntime collect_starts(const CollectStartsOptions& options, const NetworkSpace& space,
                             const CollectProgress& progress) {
  return Starts(options, space, progress).run();
}

}  // namespace tenshot::datasets
