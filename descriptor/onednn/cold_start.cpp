#include <omp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "descriptor/machine/machine.h"
#include "descriptor/onednn/cold_engine.h"
#include "descriptor/onednn/weights.h"
#include "nasbench/support/error.h"

namespace tenshot::descriptor {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Layers that one thread after another prepares and the executing one takes.
class Handover {
 public:
  explicit Handover(std::size_t layers) : layers_(layers), ready_(layers) {}

  void give(std::size_t i, PreparedLayer layer) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      layers_[i].emplace(std::move(layer));
      ready_[i] = true;
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

  /// Waits until layer i is there. Looks for a little while before it sleeps: waking up costs more than a small layer.
  const PreparedLayer& take(std::size_t i) {
    const Clock::time_point start = Clock::now();
    while (!ready_[i] && !failed_ && milliseconds_since(start) < looking_ms) {
    }
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return ready_[i] || failed_; });
    if (error_) std::rethrow_exception(error_);
    return *layers_[i];
  }

 private:
  static constexpr double looking_ms = 0.05;

  std::vector<std::optional<PreparedLayer>> layers_;
  std::vector<std::atomic<bool>> ready_;
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

/// Where each core of a plan runs: nothing where there are too few processors, so that the system places the threads.
/// A new thread would else begin on the processor of the one that made it, and stay there for some milliseconds.
std::vector<int> processors_of(const ColdPlan& plan) {
  std::vector<int> processors = allowed_cpus();
  if (processors.size() < static_cast<std::size_t>(plan.preparing_cores) + 1) processors.clear();
  return processors;
}

/// The plan as it is carried out: a thread for each preparing core, and the caller's.
class Run {
 public:
  Run(const ColdPlan& plan, const ColdStartOptions& options, Clock::time_point start)
      : plan_(plan),
        start_(start),
        processors_(processors_of(plan)),
        memories_(static_cast<std::size_t>(plan.preparing_cores) + 1),
        times_(plan.layers.size()),
        engine_(dnnl::engine::kind::cpu, 0),
        source_(plan, options.folder, options.model),
        memory_(engine_, plan.network),
        handover_(plan.layers.size()) {}

  ~Run() { join(); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void start_threads() {
    for (int core = 1; core <= plan_.preparing_cores; ++core) {
      const bool has_work = std::any_of(plan_.layers.begin(), plan_.layers.end(),
                                        [core](const PlannedLayer& layer) { return layer.core == core; });
      if (has_work) threads_.emplace_back([this, core] { prepare_pinned(core); });
    }
  }

  /// Prepares the layers of a core, in order.
  void prepare(int core) {
    omp_set_num_threads(1);  // of this thread: oneDNN's own parallelism would take the other core
    try {
      dnnl::stream stream(engine_);
      for (std::size_t i = 0; i < plan_.layers.size() && !handover_.has_failed(); ++i) {
        if (plan_.layers[i].core == core) prepare_layer(i, stream, memories_[static_cast<std::size_t>(core)]);
      }
    } catch (...) {
      handover_.fail(std::current_exception());
    }
  }

  void set_image(const std::vector<float>& image) {
    const nasbench::Shape& shape = plan_.network.tensors[static_cast<std::size_t>(plan_.network.input)];
    const auto count = static_cast<std::size_t>(nasbench::element_count(shape));
    if (!image.empty() && image.size() != count) {
      throw InputError("the network's input has " + std::to_string(count) + " values, found " +
                       std::to_string(image.size()));
    }
    auto* target = static_cast<float*>(memory_.at(plan_.network.input));
    if (image.empty()) {
      std::fill(target, target + count, 0.0F);
    } else {
      reorder(row_by_row(shape), const_cast<float*>(image.data()), canonical(shape), target);
    }
  }

  void execute(ColdStart& result) {
    for (std::size_t i = 0; i < plan_.layers.size(); ++i) {
      const Clock::time_point asked = Clock::now();
      const PreparedLayer& layer = handover_.take(i);
      result.wait_ms += milliseconds_since(asked);
      const Clock::time_point began = Clock::now();
      layer.execute(memory_);
      times_[i].execute_ms = milliseconds_since(began);
      times_[i].executed_ms = milliseconds_since(start_);
    }
  }

  std::vector<float> output() {
    const nasbench::Shape& shape = plan_.network.tensors[static_cast<std::size_t>(plan_.network.output)];
    std::vector<float> values(static_cast<std::size_t>(nasbench::element_count(shape)));
    reorder(canonical(shape), memory_.at(plan_.network.output), row_by_row(shape), values.data());
    return values;
  }

  void join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  const std::vector<std::string>& slow_layers() const { return slow_layers_; }
  const std::vector<LayerTimes>& times() const { return times_; }

  /// Of a core of the plan; none where the system is to choose.
  std::vector<int> processor(int core) const {
    if (processors_.empty()) return {};
    return {processors_[static_cast<std::size_t>(core)]};
  }

 private:
  void prepare_pinned(int core) {
    const CpuPin pin(processor(core));
    prepare(core);
  }

  void prepare_layer(std::size_t i, dnnl::stream& stream, WeightMemory& memory) {
    const ColdLayer& layer = plan_.network.layers[i];
    const Clock::time_point began = Clock::now();
    PreparedLayer prepared(plan_.network, layer, engine_, plan_.layers[i].kernel, plan_.layers[i].cached);
    times_[i].create_ms = milliseconds_since(began);
    if (prepared.has_weights()) {
      const LoadTimes load = source_.load(i, prepared, stream, memory);
      times_[i].read_ms = load.read_ms;
      times_[i].transform_ms = load.transform_ms;
      if (load.from_model) {
        const std::lock_guard<std::mutex> lock(slow_mutex_);
        slow_layers_.push_back(layer.name);
      }
    }
    times_[i].prepared_ms = milliseconds_since(start_);
    handover_.give(i, std::move(prepared));
  }

  static dnnl::memory::desc row_by_row(const nasbench::Shape& shape) {
    if (shape.size() != 4) return canonical(shape);
    return dnnl::memory::desc(shape, dnnl::memory::data_type::f32, dnnl::memory::format_tag::nchw);
  }

  void reorder(const dnnl::memory::desc& from, void* source, const dnnl::memory::desc& to, void* target) {
    dnnl::memory a(from, engine_, source), b(to, engine_, target);
    dnnl::reorder(a, b).execute(memory_.stream, a, b);
    memory_.stream.wait();
  }

  const ColdPlan& plan_;
  Clock::time_point start_;
  std::vector<int> processors_;
  std::vector<WeightMemory> memories_;  ///< of each core
  std::vector<LayerTimes> times_;       ///< of each layer, written by the core that works on it
  dnnl::engine engine_;
  WeightSource source_;
  ExecutionMemory memory_;
  Handover handover_;
  std::mutex slow_mutex_;
  std::vector<std::string> slow_layers_;
  std::vector<std::thread> threads_;  ///< ends first
};

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

}  // namespace

std::string cold_machine() {
  const dnnl_version_t* version = dnnl_version();
  const std::string revision = cpu_revision();
  return cpu_model() + (revision.empty() ? "" : ", " + revision) + ", oneDNN " + std::to_string(version->major) + "." +
         std::to_string(version->minor) + "." + std::to_string(version->patch) + ", instruction set " +
         std::to_string(static_cast<int>(dnnl::get_effective_cpu_isa()));
}

std::vector<std::string> kernel_names(const ColdNetwork& network, const ColdLayer& layer) {
  std::vector<std::string> names;
  for (const LayerKernel& kernel : layer_kernels(network, layer, dnnl::engine(dnnl::engine::kind::cpu, 0))) {
    names.push_back(kernel.name);
  }
  return names;
}

void require_this_machine(const ColdPlan& plan) {
  const std::string here = cold_machine();
  if (plan.machine == here) return;
  throw InputError("the plan was made for '" + plan.machine + "', this is '" + here +
                   "': kernels and their weights differ; measure and plan anew");
}

ColdStart run_cold_start(const std::filesystem::path& plan_file, const ColdStartOptions& options) {
  omp_set_num_threads(1);
  ColdStart result;
  const Clock::time_point start = Clock::now();
  const ColdPlan plan = read_plan(plan_file);
  require_this_machine(plan);
  try {
    Run run(plan, options, start);
    run.start_threads();
    const CpuPin pin(run.processor(0));
    run.set_image(options.image);
    result.start_ms = milliseconds_since(start);
    run.prepare(0);
    result.prepare_ms = milliseconds_since(start) - result.start_ms;
    run.execute(result);
    result.output = run.output();
    result.cold_ms = milliseconds_since(start);
    result.execute_ms = result.cold_ms - result.start_ms - result.prepare_ms - result.wait_ms;
    run.join();
    result.slow_layers = run.slow_layers();
    result.layers = run.times();
    std::vector<double> warm;
    for (int i = 0; i < options.warm_runs; ++i) {
      ColdStart ignored;
      const Clock::time_point again = Clock::now();
      run.execute(ignored);
      warm.push_back(milliseconds_since(again));
    }
    result.warm_ms = median(std::move(warm));
  } catch (const dnnl::error& error) {
    throw InputError("'" + plan_file.string() + "': oneDNN refuses it (" + error.message + ")");
  }
  return result;
}

}  // namespace tenshot::descriptor
