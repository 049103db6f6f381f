#include "descriptor/onednn/weights.h"

#include <omp.h>

#include <utility>

#include "descriptor/onednn/cold_engine.h"
#include "descriptor/onednn/stopwatch.h"
#include "nasbench/support/elapsed.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"

namespace tenshot::descriptor {
namespace {

/// Key of a plan's file of weights: what it was made of, and for.
std::string weights_key(const ColdPlan& plan) {
  std::string text = plan.model_sha256 + " " + plan.network_hash + " " + plan.machine;
  for (const PlannedLayer& layer : plan.layers) text += layer.cached ? " " + layer.kernel : " raw";
  for (const PlannedSwitch& change : plan.switches) {
    text += " " + std::to_string(change.layer) + (change.cached ? " " + change.kernel : " raw");
  }
  return sha256_hex(text);
}

std::optional<WeightFile> opened(const std::filesystem::path& path, const std::string& key, std::size_t records) {
  try {
    return std::optional<WeightFile>(std::in_place, path, key, records);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::size_t record_count(const ColdPlan& plan) { return plan.layers.size() + plan.switches.size(); }

bool is_intact(const std::filesystem::path& path, const ColdPlan& plan) {
  const std::optional<WeightFile> file = opened(path, weights_key(plan), record_count(plan));
  if (!file) return false;
  for (std::size_t i = 0; i < record_count(plan); ++i) {
    if (file->bytes(i) == 0) continue;
    const Buffer buffer(file->bytes(i));
    if (!file->read(i, buffer.data())) return false;
  }
  return true;
}

std::string stored_record(const ColdPlan& plan, const KernelUse& use, const ModelWeights& weights,
                          const dnnl::engine& engine) {
  const ColdLayer& layer = plan.network.layers[use.layer];
  std::string record = weights.record(plan.network, layer);
  if (!use.cached) return record;
  dnnl::stream stream(engine);
  PreparedLayer prepared(plan.network, layer, engine, use.kernel, false);
  const Buffer ready(prepared.cached_bytes());
  prepared.transform(record.data(), ready.data(), stream);
  return std::string(ready.data(), prepared.cached_bytes());
}

std::unique_ptr<ModelWeights> model_of(const ColdPlan& plan, const std::filesystem::path& model) {
  try {
    return std::make_unique<ModelWeights>(model, plan.model_sha256);
  } catch (const FileError& error) {
    throw InputError(std::string(error.what()) + "; the plan's weights are made of this model");
  }
}

}  // namespace

std::vector<KernelUse> kernel_uses(const ColdPlan& plan) {
  std::vector<KernelUse> uses;
  for (std::size_t i = 0; i < plan.layers.size(); ++i) {
    uses.push_back({i, plan.layers[i].kernel, plan.layers[i].cached, i});
  }
  for (const PlannedSwitch& change : plan.switches) {
    const auto layer = static_cast<std::size_t>(change.layer);
    const bool shared = !change.cached && !plan.layers[layer].cached;
    uses.push_back({layer, change.kernel, change.cached, shared ? layer : uses.size()});
  }
  return uses;
}

std::string missing_weights(const ColdPlan& plan, const std::filesystem::path& folder) {
  try {
    const WeightFile file(weight_file(folder), weights_key(plan), record_count(plan));
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

bool make_weights(const ColdPlan& plan, const std::filesystem::path& model, const std::filesystem::path& folder) {
  if (is_intact(weight_file(folder), plan)) return false;
  const std::unique_ptr<ModelWeights> weights = model_of(plan, model);
  omp_set_num_threads(1);  // as in a start: layouts depend on the number of threads
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  for (std::size_t i = 0; i < plan.layers.size(); ++i) {  // a start without one of its kernels stores nothing
    require_kernel(plan.network, plan.network.layers[i], engine, plan.layers[i].kernel);
  }
  std::vector<std::string> records(record_count(plan));
  const std::vector<KernelUse> uses = kernel_uses(plan);
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (!plan.network.layers[uses[i].layer].has_weights() || uses[i].record != i) continue;
    records[i] = stored_record(plan, uses[i], *weights, engine);
  }
  static_cast<void>(WithoutPrimitiveCache());  // forgets the kernels: a start after this is as cold as any
  make_folder(folder);
  write_file_atomically(weight_file(folder), WeightFile::content(weights_key(plan), records));
  return true;
}

WeightSource::WeightSource(const ColdPlan& plan, const std::filesystem::path& folder, std::filesystem::path model)
    : plan_(plan),
      uses_(kernel_uses(plan)),
      model_(std::move(model)),
      stored_(opened(weight_file(folder), weights_key(plan), record_count(plan))) {}

LoadTimes WeightSource::load(std::size_t index, PreparedLayer& layer, dnnl::stream& stream, WeightMemory& memory) {
  const KernelUse& use = uses_[index];
  const bool transforms = layer.transforms() && !use.cached;
  const std::size_t bytes = use.cached ? layer.cached_bytes() : layer.raw_bytes();
  if (!stored_ || stored_->bytes(use.record) != bytes) return load_from_model(use, layer, stream, memory);
  LoadTimes times;
  const Clock::time_point start = Clock::now();
  const char* record = stored_->mapped(use.record);
  if (record == nullptr) {
    if (transforms) memory.passing.require(bytes);
    char* target = transforms ? memory.passing.data() : memory.kept.take(bytes);
    if (!stored_->read(use.record, target)) return load_from_model(use, layer, stream, memory);
    record = target;
  }
  times.read_ms = milliseconds_since(start);
  if (transforms) {
    layer.transform(record, memory.kept.take(layer.cached_bytes()), stream);
    times.transform_ms = milliseconds_since(start) - times.read_ms;
  } else {
    layer.set_weights(record);
  }
  return times;
}

LoadTimes WeightSource::load_from_model(const KernelUse& use, PreparedLayer& layer, dnnl::stream& stream,
                                        WeightMemory& memory) {
  const Clock::time_point start = Clock::now();
  // The layer may have been made without its transformation.
  layer = PreparedLayer(plan_.network, plan_.network.layers[use.layer], stream.get_engine(), use.kernel, false);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!weights_) weights_ = model_of(plan_, model_);
  const std::string raw = weights_->record(plan_.network, plan_.network.layers[use.layer]);
  layer.transform(raw.data(), memory.kept.take(layer.cached_bytes()), stream);
  return {milliseconds_since(start), 0, true};
}

}  // namespace tenshot::descriptor
