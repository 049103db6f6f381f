#include "descriptor/onednn/weights.h"

#include <omp.h>

#include <chrono>

#include "descriptor/onednn/cold_engine.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"

namespace tenshot::descriptor {
namespace {

std::optional<WeightFile> opened(const std::filesystem::path& path, const std::string& key, std::size_t records) {
  try {
    return std::optional<WeightFile>(std::in_place, path, key, records);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Whether the file is there, of this plan, and whole.
bool is_intact(const std::filesystem::path& path, const ColdPlan& plan) {
  const std::optional<WeightFile> file = opened(path, weights_key(plan), plan.layers.size());
  if (!file) return false;
  for (std::size_t i = 0; i < plan.layers.size(); ++i) {
    if (file->bytes(i) == 0) continue;
    const Buffer buffer(file->bytes(i));
    if (!file->read(i, buffer.data())) return false;
  }
  return true;
}

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

}  // namespace

std::string weights_key(const ColdPlan& plan) {
  std::string text = plan.model_sha256 + " " + plan.network_hash + " " + plan.machine;
  for (const PlannedLayer& layer : plan.layers) text += layer.cached ? " " + layer.kernel : " raw";
  return sha256_hex(text);
}

std::string raw_record(const ColdNetwork& network, const ColdLayer& layer, const nasbench::OnnxWeights& weights) {
  const FoldedWeights folded = folded_weights(network, layer, weights);
  std::string record(reinterpret_cast<const char*>(folded.weight.data()), folded.weight.size() * sizeof(float));
  record.append(reinterpret_cast<const char*>(folded.bias.data()), folded.bias.size() * sizeof(float));
  return record;
}

std::filesystem::path weight_file(const std::filesystem::path& folder) { return folder / "start.weights"; }

bool has_weights(const ColdPlan& plan, const std::filesystem::path& folder) {
  return opened(weight_file(folder), weights_key(plan), plan.layers.size()).has_value();
}

bool make_weights(const ColdPlan& plan, const std::filesystem::path& model, const std::filesystem::path& folder) {
  if (is_intact(weight_file(folder), plan)) return false;
  if (sha256_hex(read_file(model)) != plan.model_sha256) {
    throw FormatError("'" + model.string() + "' is not the model that the plan was made for, or has changed since; " +
                      "measure and plan anew");
  }
  omp_set_num_threads(1);  // as in a start: layouts depend on the number of threads
  const nasbench::OnnxWeights weights(model);
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  std::vector<std::string> records(plan.layers.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    const ColdLayer& layer = plan.network.layers[i];
    if (!layer.has_weights()) continue;
    records[i] = raw_record(plan.network, layer, weights);
    if (!plan.layers[i].cached) continue;
    PreparedLayer prepared(plan.network, layer, engine, plan.layers[i].kernel, false);
    const Buffer ready(prepared.cached_bytes());
    prepared.transform(records[i].data(), ready.data(), stream);
    records[i].assign(ready.data(), prepared.cached_bytes());
  }
  const int capacity = dnnl::get_primitive_cache_capacity();
  dnnl::set_primitive_cache_capacity(0);  // forgets the kernels: a start after this is as cold as any
  dnnl::set_primitive_cache_capacity(capacity);
  make_folder(folder);
  write_file_atomically(weight_file(folder), WeightFile::content(weights_key(plan), records));
  return true;
}

WeightSource::WeightSource(const ColdPlan& plan, const std::filesystem::path& folder, std::filesystem::path model)
    : plan_(plan),
      model_(std::move(model)),
      stored_(opened(weight_file(folder), weights_key(plan), plan.layers.size())) {}

LoadTimes WeightSource::load(std::size_t i, PreparedLayer& layer, dnnl::stream& stream, WeightMemory& memory) {
  const bool transforms = layer.transforms() && !plan_.layers[i].cached;
  const std::size_t bytes = plan_.layers[i].cached ? layer.cached_bytes() : layer.raw_bytes();
  if (!stored_ || stored_->bytes(i) != bytes) return load_from_model(i, layer, stream, memory);
  LoadTimes times;
  const Clock::time_point start = Clock::now();
  if (transforms) memory.passing.require(bytes);
  char* target = transforms ? memory.passing.data() : memory.kept.take(bytes);
  if (!stored_->read(i, target)) return load_from_model(i, layer, stream, memory);
  times.read_ms = milliseconds_since(start);
  if (transforms) {
    layer.transform(target, memory.kept.take(layer.cached_bytes()), stream);
    times.transform_ms = milliseconds_since(start) - times.read_ms;
  } else {
    layer.set_weights(target);
  }
  return times;
}

LoadTimes WeightSource::load_from_model(std::size_t i, PreparedLayer& layer, dnnl::stream& stream,
                                        WeightMemory& memory) {
  const Clock::time_point start = Clock::now();
  // The layer may have been made without its transformation.
  layer = PreparedLayer(plan_.network, plan_.network.layers[i], stream.get_engine(), plan_.layers[i].kernel, false);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!weights_) weights_ = std::make_unique<nasbench::OnnxWeights>(model_);
  const std::string raw = raw_record(plan_.network, plan_.network.layers[i], *weights_);
  layer.transform(raw.data(), memory.kept.take(layer.cached_bytes()), stream);
  return {milliseconds_since(start), 0, true};
}

}  // namespace tenshot::descriptor
