#include "datasets/collect/collect.h"

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "datasets/collect/collect_batches.h"
#include "datasets/collect/collect_descriptor.h"
#include "datasets/collect/collect_record.h"
#include "datasets/tables/space_files.h"
#include "descriptor/machine/machine.h"
#include "descriptor/machine/memory.h"

namespace tenshot::datasets {
namespace {

class Collection {
 public:
  Collection(const CollectOptions& options, const NetworkSpace& space, const descriptor::Runtime& runtime,
             const CollectProgress& progress)
      : options_(options),
        space_(space),
        runtime_(runtime),
        progress_(progress),
        wanted_(without_duplicates(options.architectures)),
        asked_(wanted_.size()),
        device_(described_device(options, space, runtime, Quantity::latency)) {
    require_sensible(options_, runtime_);
  }

  DeviceRuntime run() {
    describe_conditions();
    if (options_.descriptor.wanted) counters_ = choose_counters(options_.descriptor);
    resume();
    if (finished()) return device_;
    leave_out_unsupported();
    begin_session();
    measure_missing();
    measure_unsettled();
    if (operators_missing()) measure_operators();
    if (repeat_check_missing()) check_repeatability();
    record_.complete = true;
    save();
    return device_;
  }

 private:
  // Conditions and resuming.

  void describe_conditions() {
    record_.cpu = descriptor::cpu_model();
    record_.runtime_version = runtime_.version();
    record_.weight_seed = options_.runtime_options.weight_seed;
    record_.classes = options_.shape.classes;
    record_.timing = options_.timing;
    record_.instruction_set = options_.instruction_set;
    record_.heap = descriptor::heap_policy();
    record_.sentinel_architecture = sentinel_name(space_);
  }

  void resume() {
    const std::filesystem::path folder = options_.folder / device_.id;
    if (!std::filesystem::exists(folder / "device.json")) {
      require_no_foreign_latencies(folder / "latencies.csv");
      return;
    }
    DeviceOfSpace found = read_device(folder);
    const std::string file = (folder / "device.json").string();
    CollectRecord record = record_of(found.device, file);
    require_same_conditions(found, record, file);
    device_ = std::move(found.device);
    device_.operator_latencies.clear();  // collect_operators() keeps its file itself, and more in it
    record_ = std::move(record);
    const std::string heap = descriptor::heap_policy();
    const bool known = record_.heap == heap || record_.heap.find(", then ") != std::string::npos;
    if (!known) record_.heap += ", then " + heap;
    for (const Measurement& row : device_.latencies) measured_.emplace(row.architecture, row);
    judge();
    for (const Measurement& row : device_.latencies) {
      if (std::find(wanted_.begin(), wanted_.end(), row.architecture) == wanted_.end()) others_.push_back(row);
    }
    for (const LeftOut& entry : record_.left_out) {
      const auto named = [&](const Architecture& architecture) {
        return space_.format(architecture) == entry.architecture;
      };
      wanted_.erase(std::remove_if(wanted_.begin(), wanted_.end(), named), wanted_.end());
    }
  }

  /// Throws InputError that names `file` and every condition under which `found` was measured that is not wanted now.
  void require_same_conditions(const DeviceOfSpace& found, const CollectRecord& record, const std::string& file) const {
    std::string different;
    const auto compare = [&](const char* what, const std::string& was, const std::string& is) {
      if (was != is) different += (different.empty() ? "" : "; ") + (what + (" '" + was) + "', asked for '" + is + "'");
    };
    compare("space", std::string(found.space->name()), std::string(space_.name()));
    compare("device", found.device.device, device_.device);
    compare("runtime", found.device.runtime, device_.runtime);
    compare("batch", std::to_string(found.device.batch), std::to_string(device_.batch));
    compare("threads", std::to_string(found.device.threads), std::to_string(device_.threads));
    compare("input shape", nlohmann::json(found.device.input_shape).dump(), nlohmann::json(device_.input_shape).dump());
    compare("classes", std::to_string(record.classes), std::to_string(record_.classes));
    compare("CPU", record.cpu, record_.cpu);
    compare("runtime version", record.runtime_version, record_.runtime_version);
    compare("instruction set", record.instruction_set, record_.instruction_set);
    compare("weight seed", std::to_string(record.weight_seed), std::to_string(record_.weight_seed));
    compare("timing", to_json(record)["timing"].dump(), to_json(record_)["timing"].dump());
    compare("sentinel", record.sentinel_architecture, record_.sentinel_architecture);
    if (different.empty()) return;
    throw InputError(file + ": was measured with " + different + "; choose another folder or id, or the same settings");
  }

  /// What the runtime says at once of the networks that are not measured yet.
  void leave_out_unsupported() {
    for (const Architecture& architecture : missing()) {
      try {
        const nasbench::Network network =
            space_.computation(architecture, options_.shape, options_.runtime_options.batch);
        runtime_.require_supported(network, options_.runtime_options);
      } catch (const InputError& error) {
        leave_out(architecture, error.what());
      }
    }
    require_some_left();
  }

  void leave_out(const Architecture& architecture, const std::string& reason) {
    record_.left_out.push_back({space_.format(architecture), reason});
    wanted_.erase(std::remove(wanted_.begin(), wanted_.end(), architecture), wanted_.end());
  }

  void require_some_left() const {
    if (!wanted_.empty()) return;
    throw InputError(std::string(runtime_.name()) + " can run none of the " + std::to_string(asked_) +
                     " architectures; " + record_.left_out.front().architecture + ": " +
                     record_.left_out.front().reason);
  }

  /// Something else lies where the measurements would go, and must not be overwritten.
  void require_no_foreign_latencies(const std::filesystem::path& path) const {
    if (std::filesystem::exists(path) && read_measurements(path, space_).entries > 0) {
      throw InputError(
          path.string() +
          ": latencies without the device.json that says how they were measured; choose another folder or id");
    }
  }

  bool operators_missing() const {
    return options_.descriptor.wanted &&
           descriptor_incomplete(device_.descriptor, counters_.source, space_, options_.shape);
  }
  bool repeat_check_missing() const { return options_.repeat_check && !record_.repeatability; }

  std::vector<Architecture> missing() const {
    std::vector<Architecture> result;
    std::copy_if(wanted_.begin(), wanted_.end(), std::back_inserter(result),
                 [&](const Architecture& architecture) { return measured_.count(architecture) == 0; });
    return result;
  }

  bool finished() const {
    const bool settled = options_.attempts == 1 || unsettled().empty();
    return record_.complete && missing().empty() && settled && !operators_missing() && !repeat_check_missing();
  }

  void begin_session() {
    pin_ = std::make_unique<descriptor::CpuPin>(options_.runtime_options.threads);
    if (record_.started_utc.empty()) {
      record_.started_utc = utc_now();
      record_.before = machine_state();
    }
    ++record_.sessions;
    record_.pinned_cpus = pin_->cpus();
    record_.cores = cores_;
    record_.kernel = descriptor::kernel_release();
    record_.batch_size = options_.batch_size;
    record_.sentinel_tolerance = options_.sentinel_tolerance;
    record_.complete = false;
    write_space_files(options_.folder, space_, wanted_);  // before anything is measured: what fails, fails at once
    save();
  }

  MachineState machine_state() const {
    const int watched = pin_->cpus().empty() ? 0 : pin_->cpus().front();
    return {descriptor::load_average(), descriptor::cpu_frequency_mhz(watched), descriptor::temperature_c()};
  }

  void save() {
    record_.saved_utc = utc_now();
    record_.after = machine_state();
    device_.environment = to_json(record_).dump();
    device_.latencies.clear();
    for (const Architecture& architecture : wanted_) {
      const auto found = measured_.find(architecture);
      if (found != measured_.end()) device_.latencies.push_back(found->second);
    }
    device_.latencies.insert(device_.latencies.end(), others_.begin(), others_.end());
    write_device(options_.folder, device_, space_);
  }

  // Measuring.

  void report(std::size_t done, const std::string& note) {
    if (progress_ && !progress_(done, wanted_.size(), note)) stopped_ = true;
  }

  void throw_if_stopped() const {
    if (!stopped_) return;
    throw Interrupted("stopped after " + std::to_string(wanted_.size() - missing().size()) + " of " +
                      std::to_string(wanted_.size()) + " architectures, saved in " +
                      (options_.folder / device_.id).string() + "; the same call resumes");
  }

  /// Batches of at most batch_size of `architectures`, in their order.
  std::vector<std::vector<Architecture>> batches_of(const std::vector<Architecture>& architectures) const {
    std::vector<std::vector<Architecture>> batches;
    for (const Architecture& architecture : architectures) {
      const bool full = batches.empty() || batches.back().size() == static_cast<std::size_t>(options_.batch_size);
      if (full) batches.emplace_back();
      batches.back().push_back(architecture);
    }
    return batches;
  }

  void measure_missing() {
    const std::vector<Architecture> all = missing();
    if (!all.empty()) record_.repeatability.reset();  // it spoke of fewer architectures
    for (const std::vector<Architecture>& batch : batches_of(all)) {
      keep(attempt(batch, wanted_.size() - missing().size(), ""));
    }
  }

  /// Only the end shows how the machine is when nothing disturbs it. What was measured while it was otherwise is
  /// measured again then, minutes later; until patience runs out.
  void measure_unsettled() {
    for (int again = 1; again < options_.attempts; ++again) {
      const std::vector<std::vector<Architecture>> batches = batches_of(unsettled());
      if (batches.empty()) break;
      record_.repeatability.reset();
      for (const std::vector<Architecture>& batch : batches) {
        if (!wait_until_settled()) break;
        ++record_.repeated_batches;
        keep(attempt(batch, wanted_.size() - unsettled().size(),
                     "measuring again, " + batches_.complaint(measured_.at(batch.front()))));
      }
    }
    record_.unsettled_architectures = static_cast<int>(unsettled().size());
  }

  std::vector<Architecture> unsettled() const {
    std::vector<Architecture> result;
    for (const Architecture& architecture : wanted_) {
      const auto found = measured_.find(architecture);
      if (found != measured_.end() && !batches_.settled(found->second)) result.push_back(architecture);
    }
    return result;
  }

  /// One batch, measured now. Fewer rows than asked for when stopped, and where the runtime cannot run some.
  std::vector<Measurement> attempt(std::vector<Architecture> batch, std::size_t done, const std::string& note) {
    const auto go_on = [&](std::size_t measured) {
      report(done + measured, note);
      return !stopped_;
    };
    std::vector<Measurement> rows;
    while (!batch.empty()) {
      try {
        rows = batches_.measure(batch, go_on);
        break;
      } catch (const CannotRun& cannot) {
        leave_out(cannot.architecture, cannot.what());
        batch.erase(std::find(batch.begin(), batch.end(), cannot.architecture));
        require_some_left();
      }
    }
    if (rows.empty()) throw_if_stopped();
    return rows;
  }

  bool wait_until_settled() {
    return batches_.wait_until_settled([this] {
      report(wanted_.size() - unsettled().size(), "waiting for the machine to settle");
      throw_if_stopped();
    });
  }

  /// All rows, those of the file that were not asked for too, say how the machine is.
  void judge() {
    std::vector<double> sentinels_ms;
    for (const auto& [architecture, row] : measured_) sentinels_ms.push_back(row.sentinel_ms);
    batches_.judge_by(std::move(sentinels_ms));
  }

  /// Keeps what is new or was measured on a quieter machine than before, and saves.
  void keep(const std::vector<Measurement>& rows) {
    for (const Measurement& row : rows) {
      const auto [known, is_new] = measured_.emplace(row.architecture, row);
      if (!is_new && batches_.moved(row) < batches_.moved(known->second)) known->second = row;
    }
    judge();
    save();
    journal_.forget_batch();
    throw_if_stopped();
  }

  void measure_operators() {
    const auto step = [this](const std::string& note) {
      report(wanted_.size(), note);
      throw_if_stopped();
    };
    complete_descriptor(
        device_.descriptor, options_, space_, runtime_, counters_.source, batches_.timer(),
        {step, [this] { save(); }, [this](double sentinel_ms) { return batches_.steady(sentinel_ms); }});
  }

  /// One architecture in twenty again. Only what was undisturbed both times says how repeatable measuring is.
  void check_repeatability() {
    constexpr std::size_t one_in = 20;
    const std::size_t count = std::max<std::size_t>(1, wanted_.size() / one_in);
    std::vector<Architecture> again;
    for (std::size_t i = 0; i < count; ++i) again.push_back(wanted_[i * wanted_.size() / count]);
    const std::string note = "measuring " + std::to_string(count) + " architectures again";
    std::vector<double> relative_differences;
    for (const std::vector<Architecture>& batch : batches_of(again)) {
      std::vector<Measurement> rows = journal_.repeated(batch).value_or(std::vector<Measurement>{});
      const bool known = !rows.empty();
      for (int tries = 0; tries < options_.attempts && (rows.empty() || !batches_.settled(rows.front())); ++tries) {
        if (!wait_until_settled()) break;
        rows = attempt(batch, wanted_.size() - again.size(), note);
        journal_.forget_batch();
      }
      if (!known && !rows.empty() && batches_.settled(rows.front())) journal_.keep_repeated(batch, rows);
      throw_if_stopped();
      for (const Measurement& row : rows) {
        if (!batches_.settled(row)) continue;
        relative_differences.push_back(std::abs(row.latency_ms / measured_.at(row.architecture).latency_ms - 1));
      }
    }
    if (2 * relative_differences.size() < count) return;  // a later call may find the machine settled
    journal_.forget();
    const auto within = std::count_if(relative_differences.begin(), relative_differences.end(),
                                      [](double difference) { return difference <= 0.1; });
    Repeatability result;
    result.architectures = relative_differences.size();
    result.within_10_percent = static_cast<double>(within) / static_cast<double>(relative_differences.size());
    result.median_relative_difference = descriptor::summarise(std::move(relative_differences)).median_ms;
    record_.repeatability = result;
  }

  const CollectOptions& options_;
  const NetworkSpace& space_;
  const descriptor::Runtime& runtime_;
  const CollectProgress& progress_;
  std::vector<Architecture> wanted_;  ///< without those that the runtime cannot run
  const std::size_t asked_;
  const int cores_ = descriptor::usable_cpus();  // asked before the thread is pinned
  CounterChoice counters_;
  DeviceRuntime device_;
  CollectRecord record_;
  CollectJournal journal_{options_.folder / device_.id / "batch.json", space_};
  CollectBatches batches_{options_, space_, runtime_, record_, journal_};
  nasbench::ArchitectureMap<Measurement> measured_;
  std::vector<Measurement> others_;  ///< of the file, not asked for this time; kept
  std::unique_ptr<descriptor::CpuPin> pin_;
  bool stopped_ = false;
};

}  // namespace

DeviceRuntime collect(const CollectOptions& options, const NetworkSpace& space, const CollectProgress& progress) {
  return collect(options, space, *descriptor::make_runtime(options.runtime), progress);
}

DeviceRuntime collect(const CollectOptions& options, const NetworkSpace& space, const descriptor::Runtime& runtime,
                      const CollectProgress& progress) {
  return Collection(options, space, runtime, progress).run();
}

}  // namespace tenshot::datasets
