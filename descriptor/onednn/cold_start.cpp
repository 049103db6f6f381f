#include <omp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "descriptor/compiled/layout.h"
#include "descriptor/machine/machine.h"
#include "descriptor/onednn/cold_engine.h"
#include "descriptor/onednn/stopwatch.h"
#include "descriptor/onednn/weights.h"
#include "nasbench/support/elapsed.h"
#include "nasbench/support/error.h"

namespace tenshot::descriptor {
namespace {

/// Where each core of a plan runs: nothing where there are too few processors, so that the system places the threads.
/// A new thread would else begin on the processor of the one that made it, and stay there for some milliseconds. The
/// last processor executes: the first one usually serves the system's interrupts, and of unequal ones it is a slow one.
std::vector<int> processors_of(const ColdPlan& plan) {
  std::vector<int> processors = allowed_cpus();
  std::reverse(processors.begin(), processors.end());
  if (processors.size() < static_cast<std::size_t>(plan.preparing_cores) + 1) processors.clear();
  return processors;
}

/// Layers that come when they are ready; nobody waits for them.
class PreparedLayers {
 public:
  explicit PreparedLayers(std::size_t layers) : layers_(layers), ready_(layers) {}

  void give(std::size_t i, PreparedLayer layer) {
    layers_[i] = std::make_unique<PreparedLayer>(std::move(layer));
    ready_[i].store(true, std::memory_order_release);
  }

  /// Nothing where layer i is not ready, or has no other kernel for later runs.
  const PreparedLayer* find(std::size_t i) const {
    return ready_[i].load(std::memory_order_acquire) ? layers_[i].get() : nullptr;
  }

 private:
  std::vector<std::unique_ptr<PreparedLayer>> layers_;  ///< allocated by the core that prepares
  std::vector<std::atomic<bool>> ready_;
};

/// Layers that one thread after another prepares and the executing one takes.
class Handover {
 public:
  explicit Handover(std::size_t layers) : layers_(layers) {}

  void give(std::size_t i, PreparedLayer layer) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      layers_.give(i, std::move(layer));
    }
    changed_.notify_one();
  }

  void fail(std::exception_ptr error) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      error_ = std::move(error);
      failed_ = true;
    }
    changed_.notify_one();
  }

  bool has_failed() const { return failed_; }
  bool is_ready(std::size_t i) const { return layers_.find(i) != nullptr || failed_; }

  /// Waits until layer i is there. Looks for a little while before it sleeps: waking up costs more than a small layer.
  const PreparedLayer& take(std::size_t i) {
    const Clock::time_point start = Clock::now();
    while (!is_ready(i) && Clock::now() - start < looking) {
    }
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return is_ready(i); });
    if (error_) std::rethrow_exception(error_);
    return *layers_.find(i);
  }

 private:
  static constexpr std::chrono::microseconds looking{50};

  PreparedLayers layers_;
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

/// The plan as it is carried out: a thread for each preparing core, and the caller's.
class Run {
 public:
  Run(const ColdPlan& plan, const ColdStartOptions& options, Clock::time_point start, ColdStart& result)
      : plan_(plan),
        start_(start),
        result_(result),
        processors_(processors_of(plan)),
        uses_(kernel_uses(plan)),
        memories_(static_cast<std::size_t>(plan.preparing_cores) + 2),
        engine_(dnnl::engine::kind::cpu, 0),
        source_(plan, options.folder, options.model),
        memory_(engine_, plan.network),
        handover_(plan.layers.size()),
        claimed_(plan.layers.size()),
        later_(plan.layers.size()),
        next_switch_(plan.layers.size()),
        switches_(options.runs > 1 || options.warm_runs > 0) {
    result.layers.resize(plan.layers.size());
  }

  ~Run() {
    stop_switching();
    join();
  }

  void start_threads() {
    for (int core = 1; core <= plan_.preparing_cores; ++core) {
      const bool has_work = std::any_of(plan_.layers.begin(), plan_.layers.end(),
                                        [core](const PlannedLayer& layer) { return layer.core == core; });
      const bool switches = switches_ && !plan_.switches.empty();
      if (!has_work && !switches) continue;
      threads_.emplace_back([this, core] {
        const CpuPin pin(processor(core));
        prepare(core);
        if (!handover_.has_failed()) switch_kernels(core);
      });
    }
  }

  /// Where no core prepares during the first run, the switches are prepared from here on, by a core of their own.
  void start_switching() {
    if (plan_.preparing_cores > 0 || !switches_ || plan_.switches.empty()) return;
    threads_.emplace_back([this] {
      const int core = plan_.preparing_cores + 1;
      const CpuPin pin(processor(core));
      omp_set_num_threads(1);
      switch_kernels(core);
    });
  }

  void stop_switching() { switches_ = false; }

  void prepare(int core) {
    omp_set_num_threads(1);  // of this thread: oneDNN's own parallelism would take the other core
    try {
      dnnl::stream stream(engine_);
      for (std::size_t i = 0; i < plan_.layers.size() && !handover_.has_failed(); ++i) {
        if (plan_.layers[i].core != core || claimed_[i].exchange(true)) continue;
        prepare_layer(i, stream, memories_[static_cast<std::size_t>(core)]);
      }
    } catch (...) {
      handover_.fail(std::current_exception());
    }
  }

  void set_image(const std::vector<float>& image) {
    const nasbench::Shape& shape = shape_of(plan_.network, plan_.network.input);
    const auto count = static_cast<std::size_t>(nasbench::element_count(shape));
    if (!image.empty() && image.size() != count) {
      throw InputError("the network's input has " + std::to_string(count) + " values, found " +
                       std::to_string(image.size()));
    }
    auto* target = static_cast<float*>(memory_.at(plan_.network.input));
    image.empty() ? std::fill(target, target + count, 0.0F) : to_channels_last(shape, image.data(), target);
  }

  /// While layer i is not ready, prepares it or the next layers that no core has begun. Returns how many.
  int steal(std::size_t i, dnnl::stream& stream) {
    int stolen = 0;
    for (std::size_t next = i; next < plan_.layers.size() && !handover_.is_ready(i); ++next) {
      if (claimed_[next].exchange(true)) continue;
      prepare_layer(next, stream, memories_[0]);
      ++stolen;
    }
    return stolen;
  }

  void execute_first(bool steals) {
    dnnl::stream stream(engine_);
    for (std::size_t i = 0; i < plan_.layers.size(); ++i) {
      const Clock::time_point reached = Clock::now();
      if (steals) result_.stolen += steal(i, stream);
      result_.prepare_ms += milliseconds_since(reached);
      const Clock::time_point asked = Clock::now();
      const PreparedLayer& layer = handover_.take(i);
      result_.wait_ms += milliseconds_since(asked);
      const Clock::time_point began = Clock::now();
      layer.execute(memory_);
      result_.layers[i].execute_ms = milliseconds_since(began);
      result_.layers[i].executed_ms = milliseconds_since(start_);
    }
  }

  /// A later run: every layer by its new kernel where that is ready. Returns how many were.
  int execute_again() {
    int switched = 0;
    for (std::size_t i = 0; i < plan_.layers.size(); ++i) {
      const PreparedLayer* later = later_.find(i);
      (later != nullptr ? *later : handover_.take(i)).execute(memory_);
      switched += later != nullptr ? 1 : 0;
    }
    return switched;
  }

  std::vector<float> output() {
    const nasbench::Shape& shape = shape_of(plan_.network, plan_.network.output);
    std::vector<float> values(static_cast<std::size_t>(nasbench::element_count(shape)));
    to_channels_first(shape, static_cast<const float*>(memory_.at(plan_.network.output)), values.data());
    return values;
  }

  void join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  /// The processor that a core of the plan is to have; none where the system is to choose.
  std::vector<int> processor(int core) const {
    if (static_cast<std::size_t>(core) >= processors_.size()) return {};
    return {processors_[static_cast<std::size_t>(core)]};
  }

 private:
  /// Prepares kernels of later runs, one after another, until none is left. Where one cannot be, layers keep theirs.
  void switch_kernels(int core) {
    try {
      dnnl::stream stream(engine_);
      for (std::size_t use = next_switch_++; use < uses_.size() && switches_; use = next_switch_++) {
        const KernelUse& change = uses_[use];
        PreparedLayer prepared(plan_.network, plan_.network.layers[change.layer], engine_, change.kernel,
                               change.cached);
        load(use, prepared, stream, memories_[static_cast<std::size_t>(core)]);
        later_.give(change.layer, std::move(prepared));
      }
    } catch (const std::exception& error) {
      const std::lock_guard<std::mutex> lock(mutex_);
      result_.unswitched = error.what();
    }
  }

  LoadTimes load(std::size_t use, PreparedLayer& prepared, dnnl::stream& stream, WeightMemory& memory) {
    if (!prepared.has_weights()) return {};
    const LoadTimes times = source_.load(use, prepared, stream, memory);
    if (times.from_model) {
      const std::lock_guard<std::mutex> lock(mutex_);
      result_.slow_layers.push_back(plan_.network.layers[uses_[use].layer].name);
    }
    return times;
  }

  void prepare_layer(std::size_t i, dnnl::stream& stream, WeightMemory& memory) {
    const ColdLayer& layer = plan_.network.layers[i];
    const Clock::time_point began = Clock::now();
    PreparedLayer prepared(plan_.network, layer, engine_, plan_.layers[i].kernel, plan_.layers[i].cached);
    result_.layers[i].create_ms = milliseconds_since(began);
    const LoadTimes loaded = load(i, prepared, stream, memory);
    result_.layers[i].read_ms = loaded.read_ms;
    result_.layers[i].transform_ms = loaded.transform_ms;
    result_.layers[i].prepared_ms = milliseconds_since(start_);
    handover_.give(i, std::move(prepared));
  }

  const ColdPlan& plan_;
  Clock::time_point start_;
  ColdStart& result_;  ///< times of a layer are written by the core that works on it
  std::vector<int> processors_;
  std::vector<KernelUse> uses_;
  std::vector<WeightMemory> memories_;  ///< one for each core, and one for the core that only switches
  dnnl::engine engine_;
  WeightSource source_;
  ExecutionMemory memory_;
  Handover handover_;
  std::vector<std::atomic<bool>> claimed_;  ///< whether a core has begun to prepare the layer
  PreparedLayers later_;                    ///< with the kernels of later runs
  std::atomic<std::size_t> next_switch_;    ///< index into uses_
  std::atomic<bool> switches_;              ///< whether later runs are to have their own kernels
  std::mutex mutex_;                        ///< guards the texts of result_
  std::vector<std::thread> threads_;        ///< ends first
};

void run_first(Run& run, const ColdStartOptions& options, Clock::time_point start, ColdStart& result) {
  run.set_image(options.image);
  result.start_ms = milliseconds_since(start);
  run.prepare(0);
  result.prepare_ms = milliseconds_since(start) - result.start_ms;
  run.execute_first(options.steal);
  result.output = run.output();
  result.cold_ms = milliseconds_since(start);
  result.execute_ms = result.cold_ms - result.start_ms - result.prepare_ms - result.wait_ms;
  result.runs = {{result.cold_ms, 0}};
}

void run_later(Run& run, const ColdStartOptions& options, ColdStart& result) {
  run.start_switching();
  for (int i = 1; i < options.runs; ++i) {
    const Clock::time_point start = Clock::now();
    run.set_image(options.image);
    const int switched = run.execute_again();
    result.last_output = run.output();
    result.runs.push_back({milliseconds_since(start), switched});
  }
  if (options.warm_runs == 0) run.stop_switching();
  run.join();
  if (options.warm_runs > 0) result.warm_ms = median_ms(options.warm_runs, [&] { run.execute_again(); });
}

}  // namespace

ColdStart run_cold_start(const std::filesystem::path& plan_file, const ColdStartOptions& options) {
  omp_set_num_threads(1);
  // Else the first kernel looks for a profiler's library in all folders that hold libraries.
  dnnl_set_jit_profiling_flags(DNNL_JIT_PROFILE_NONE);
  ColdStart result;
  const Clock::time_point start = Clock::now();
  const ColdPlan plan = read_plan(plan_file);
  require_this_machine(plan);
  try {
    Run run(plan, options, start, result);
    run.start_threads();
    const CpuPin pin(run.processor(0));
    run_first(run, options, start, result);
    run_later(run, options, result);
  } catch (const dnnl::error& error) {
    throw InputError("'" + plan_file.string() + "': oneDNN refuses it (" + error.message + ")");
  }
  return result;
}

}  // namespace tenshot::descriptor
