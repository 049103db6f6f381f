#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <map>
#include <thread>

#include "descriptor/machine/machine.h"
#include "descriptor/machine/memory.h"
#include "descriptor/onednn/cold_engine.h"
#include "descriptor/onednn/stopwatch.h"
#include "descriptor/onednn/weights.h"
#include "nasbench/graph/onnx_reader.h"
#include "nasbench/support/elapsed.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers_below.h"
#include "nasbench/support/random.h"
#include "nasbench/support/temporaries.h"

namespace tenshot::descriptor {
namespace {

class Measurement {
 public:
  Measurement(const std::filesystem::path& model, const ColdMeasureOptions& options)
      : options_(options),
        first_uses_(first_uses()),
        engine_(dnnl::engine::kind::cpu, 0),
        stream_(engine_),
        weights_(model),
        scratch_(temporary_name(options.scratch / "stages.weights", ::getpid())) {
    remove_stale_temporaries_of(options.scratch / "stages.weights");
    const nasbench::Network network = nasbench::read_onnx(model);
    stages_.model = model.string();
    stages_.model_sha256 = weights_.sha256();
    stages_.network_hash = nasbench::content_hash(network);
    stages_.machine = cold_machine();
    stages_.page_cache_dropped = true;
    stages_.network = cold_network(network);
  }

  ColdStages run() {
    omp_set_num_threads(1);
    ExecutionMemory memory(engine_, stages_.network);
    fill(memory);
    read_raw_in_order();
    std::map<std::string, std::size_t> shapes;  // first layer of a shape
    for (std::size_t i = 0; i < stages_.network.layers.size(); ++i) {
      const auto [known, is_new] = shapes.emplace(shape_key(stages_.network, stages_.network.layers[i]), i);
      LayerStages& layer = stages_.layers[i];
      layer.shape = static_cast<int>(known->second);
      if (is_new) {
        measure_kernels(i, memory);
      } else {
        layer.kernels = stages_.layers[known->second].kernels;
      }
      if (options_.progress) options_.progress(i + 1, stages_.network.layers.size());
    }
    measure_interference(memory);
    measure_start();
    weights_.require_unchanged();
    return std::move(stages_);
  }

 private:
  static void fill(ExecutionMemory& memory) {
    Rng rng(1);
    auto* values = reinterpret_cast<float*>(memory.tensors.data());
    std::generate_n(values, memory.tensors.size() / sizeof(float), [&] { return static_cast<float>(rng.uniform()); });
  }

  /// Reads the records of the scratch file in order and into memory that nothing has used, as a cold start does. What
  /// each takes is its median over the repetitions, scaled so that all together take what they do in the median
  /// repetition: the disk is waited for a few times, each time by another record.
  std::vector<double> cold_reads(const std::string& key, std::size_t records) {
    std::vector<std::vector<double>> times(records);
    std::vector<double> sums;
    for (int repetition = 0; repetition < options_.repetitions; ++repetition) {
      if (!drop_from_page_cache(scratch_.path()).dropped()) stages_.page_cache_dropped = false;
      const WeightFile file(scratch_.path(), key, records);
      WeightMemory memory;
      sums.push_back(0);
      for (std::size_t i = 0; i < records; ++i) {
        if (file.bytes(i) == 0) continue;
        times[i].push_back(time_ms([&] { file.read(i, memory.kept.take(file.bytes(i))); }));
        sums.back() += times[i].back();
      }
    }
    std::vector<double> medians;
    double sum = 0;
    for (std::vector<double>& of_record : times) {
      medians.push_back(of_record.empty() ? 0 : median(std::move(of_record)));
      sum += medians.back();
    }
    if (sum > 0) {
      const double stalls = median(std::move(sums)) / sum;
      for (double& ms : medians) ms *= stalls;
    }
    return medians;
  }

  void read_raw_in_order() {
    const std::size_t count = stages_.network.layers.size();
    stages_.layers.resize(count);
    std::vector<std::string> records(count);
    for (std::size_t i = 0; i < count; ++i) {
      const ColdLayer& layer = stages_.network.layers[i];
      if (layer.has_weights()) records[i] = weights_.record(stages_.network, layer);
      stages_.layers[i].raw_bytes = records[i].size();
    }
    const std::string key(64, 'r');
    write_file_atomically(scratch_.path(), WeightFile::content(key, records));
    const std::vector<double> read_ms = cold_reads(key, count);
    for (std::size_t i = 0; i < count; ++i) {
      if (stages_.layers[i].raw_bytes > 0) stages_.layers[i].read_raw_ms = read_ms[i];
    }
  }

  void measure_kernels(std::size_t index, ExecutionMemory& memory) {
    const ColdLayer& layer = stages_.network.layers[index];
    const std::string raw = layer.has_weights() ? weights_.record(stages_.network, layer) : "";
    double fastest = std::numeric_limits<double>::infinity();
    std::vector<KernelStages>& kernels = stages_.layers[index].kernels;
    for (const std::string& name : kernel_names(stages_.network, layer)) {
      std::optional<KernelStages> measured = measure_kernel(layer, name, raw, fastest, memory);
      if (!measured) continue;
      fastest = std::min(fastest, measured->execute_ms);
      kernels.push_back(std::move(*measured));
    }
  }

  /// Nothing where the kernel takes many times as long as one measured before: no plan wants it.
  std::optional<KernelStages> measure_kernel(const ColdLayer& layer, const std::string& name, const std::string& raw,
                                             double fastest, ExecutionMemory& memory) {
    constexpr double hopeless = 8, small_ms = 1;
    KernelStages stages;
    stages.name = name;
    const auto make = [&] { return PreparedLayer(stages_.network, layer, engine_, name, false); };
    if (is_matrix_product(name)) stages.once_ms = first_uses_.matrix_product_ms;
    std::vector<double> transform, first, later;
    for (int repetition = 0; repetition < options_.repetitions; ++repetition) {
      PreparedLayer prepared = make();
      Buffer ready;
      if (prepared.has_weights()) {
        ready = Buffer(prepared.cached_bytes());
        transform.push_back(time_ms([&] { prepared.transform(raw.data(), ready.data(), stream_); }));
      }
      first.push_back(time_ms([&] { prepared.execute(memory); }));
      later.push_back(time_ms([&] { prepared.execute(memory); }));
      if (later.back() > small_ms && later.back() > hopeless * fastest) return std::nullopt;
      stages.transforms = prepared.transforms();
      if (repetition == 0 && stages.transforms) measure_storage(prepared, stages);
    }
    if (stages.transforms) stages.transform_ms = median(std::move(transform));
    stages.first_ms = median(std::move(first));
    stages.execute_ms = median(std::move(later));
    stages.create_again_ms = median_ms(options_.repetitions, make);
    const WithoutPrimitiveCache none;
    stages.create_ms = median_ms(options_.repetitions, make);
    return stages;
  }

  /// Several copies of the transformed weights, so that they are read in sequence, as those of a network's layers are.
  void measure_storage(const PreparedLayer& prepared, KernelStages& stages) {
    constexpr std::size_t sequence_bytes = 8U << 20, fewest = 2, most = 8;
    const std::string record(prepared.weights(), prepared.cached_bytes());
    const std::size_t copies = std::clamp(sequence_bytes / record.size(), fewest, most);
    const std::string key(64, 'c');
    const std::string content = WeightFile::content(key, std::vector<std::string>(copies, record));
    stages.cached_bytes = record.size();
    stages.write_cached_ms =
        time_ms([&] { write_file_atomically(scratch_.path(), content); }) / static_cast<double>(copies);
    const std::vector<double> read_ms = cold_reads(key, copies);
    double total = 0;
    for (std::size_t i = 1; i < copies; ++i) total += read_ms[i];
    stages.read_cached_ms = total / static_cast<double>(copies - 1);
  }

  /// Layers of the network executed again and again on this thread, while another one prepares layers again and again:
  /// how many rounds of each fit into a while, alone and together. The most favourable of several trials.
  void measure_interference(ExecutionMemory& memory) {
    std::vector<std::size_t> heaviest = numbers_below(stages_.layers.size());
    std::sort(heaviest.begin(), heaviest.end(), [&](std::size_t a, std::size_t b) {
      return stages_.layers[a].kernels[0].execute_ms > stages_.layers[b].kernels[0].execute_ms;
    });
    constexpr std::size_t enough = 4;
    heaviest.resize(std::min(enough, heaviest.size()));
    std::vector<PreparedLayer> prepared;
    std::vector<std::string> raws;
    std::vector<Buffer> ready, ready_too;  // for one thread, and for the other
    for (const std::size_t i : heaviest) {
      const ColdLayer& layer = stages_.network.layers[i];
      prepared.emplace_back(stages_.network, layer, engine_, stages_.layers[i].kernels[0].name, false);
      raws.push_back(layer.has_weights() ? weights_.record(stages_.network, layer) : "");
      ready.emplace_back(prepared.back().cached_bytes());
      if (layer.has_weights()) prepared.back().transform(raws.back().data(), ready.back().data(), stream_);
      ready_too.emplace_back(ready.back().size());
    }
    const auto execute = [&] {
      for (const PreparedLayer& layer : prepared) layer.execute(memory);
    };
    const auto prepare = [&](dnnl::stream& stream) {
      for (std::size_t k = 0; k < heaviest.size(); ++k) {
        PreparedLayer layer(stages_.network, stages_.network.layers[heaviest[k]], engine_,
                            stages_.layers[heaviest[k]].kernels[0].name, false);
        if (layer.has_weights()) layer.transform(raws[k].data(), ready_too[k].data(), stream);
      }
    };
    constexpr double while_ms = 40;
    const std::vector<int> processors = allowed_cpus();
    const CpuPin pin(processors.size() < 2 ? std::vector<int>() : std::vector<int>{processors[0]});
    Interference best{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    for (int trial = 0; trial < options_.repetitions; ++trial) {
      const double executions_alone = rounds(while_ms, execute);
      const double preparations_alone = rounds(while_ms, [&] { prepare(stream_); });
      double preparations = 0;
      std::thread other([&] {
        const CpuPin aside(processors.size() < 2 ? std::vector<int>() : std::vector<int>{processors[1]});
        omp_set_num_threads(1);
        dnnl::stream stream(engine_);
        preparations = rounds(while_ms, [&] { prepare(stream); });
      });
      const double executions = rounds(while_ms, execute);
      other.join();
      best.executing = std::min(best.executing, executions_alone / executions);
      best.preparing = std::min(best.preparing, preparations_alone / preparations);
    }
    stages_.interference = {std::max(1.0, best.preparing), std::max(1.0, best.executing)};
  }

  /// Calls of `work` that fit into so many milliseconds, as a real number.
  template <class Work>
  static double rounds(double within_ms, const Work& work) {
    const Clock::time_point start = Clock::now();
    for (int count = 1;; ++count) {
      work();
      const double ms = milliseconds_since(start);
      if (ms >= within_ms) return count * within_ms / ms;
    }
  }

  void measure_start() {
    ColdPlan plan;
    plan.machine = stages_.machine;
    plan.network = stages_.network;
    for (const LayerStages& layer : stages_.layers) plan.layers.push_back({layer.kernels[0].name, false, 1});
    write_file_atomically(scratch_.path(), to_text(plan));
    stages_.start_ms = first_uses_.primitive_ms + median_ms(options_.repetitions, [&] {
                         const ColdPlan read = read_plan(scratch_.path());
                         const ExecutionMemory memory(engine_, read.network);
                         std::thread([] {}).join();
                       });
  }

  const ColdMeasureOptions& options_;
  FirstUses first_uses_;
  dnnl::engine engine_;
  dnnl::stream stream_;
  ModelWeights weights_;
  PassingFile scratch_;
  ColdStages stages_;
};

}  // namespace

ColdStages measure_cold_stages(const std::filesystem::path& model, const ColdMeasureOptions& options) {
  return Measurement(model, options).run();
}

}  // namespace tenshot::descriptor
