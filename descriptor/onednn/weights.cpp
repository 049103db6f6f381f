#include "descriptor/onednn/weights.h"

#include <algorithm>
#include <cstring>

#include "descriptor/onednn/cold_engine.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"

namespace tenshot::descriptor {
namespace {

bool reads_cached(const ColdPlan& plan) {
  return std::any_of(plan.layers.begin(), plan.layers.end(), [](const PlannedLayer& layer) { return layer.cached; });
}

std::optional<WeightFile> opened(const std::filesystem::path& path, const std::string& key, std::size_t records) {
  try {
    return std::optional<WeightFile>(std::in_place, path, key, records);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Whether the file is there, of this key, and whole.
bool is_intact(const std::filesystem::path& path, const std::string& key, std::size_t records) {
  const std::optional<WeightFile> file = opened(path, key, records);
  if (!file) return false;
  for (std::size_t i = 0; i < records; ++i) {
    if (file->bytes(i) == 0) continue;
    const Buffer buffer(file->bytes(i));
    if (!file->read(i, buffer.data())) return false;
  }
  return true;
}

Buffer buffer_of(const std::string& record) {
  Buffer buffer(record.size());
  std::memcpy(buffer.data(), record.data(), record.size());
  return buffer;
}

}  // namespace

std::string raw_key(const ColdPlan& plan) { return sha256_hex("raw " + plan.model_sha256 + " " + plan.network_hash); }

std::string cached_key(const ColdPlan& plan) {
  std::string text = "cached " + plan.model_sha256 + " " + plan.network_hash + " " + plan.machine;
  for (const PlannedLayer& layer : plan.layers) text += " " + layer.kernel + (layer.cached ? " cached" : " raw");
  return sha256_hex(text);
}

std::string raw_record(const ColdNetwork& network, const ColdLayer& layer, const nasbench::OnnxWeights& weights) {
  const FoldedWeights folded = folded_weights(network, layer, weights);
  std::string record(reinterpret_cast<const char*>(folded.weight.data()), folded.weight.size() * sizeof(float));
  record.append(reinterpret_cast<const char*>(folded.bias.data()), folded.bias.size() * sizeof(float));
  return record;
}

WeightFolder weight_folder(const std::filesystem::path& folder) {
  return {folder / "raw.weights", folder / "cached.weights"};
}

bool has_weights(const ColdPlan& plan, const std::filesystem::path& folder) {
  const WeightFolder files = weight_folder(folder);
  const std::size_t count = plan.layers.size();
  return opened(files.raw, raw_key(plan), count).has_value() &&
         (!reads_cached(plan) || opened(files.cached, cached_key(plan), count).has_value());
}

std::vector<std::string> make_weights(const ColdPlan& plan, const std::filesystem::path& model,
                                      const std::filesystem::path& folder) {
  const WeightFolder files = weight_folder(folder);
  const std::size_t count = plan.layers.size();
  const bool has_raw = is_intact(files.raw, raw_key(plan), count);
  const bool has_cached = !reads_cached(plan) || is_intact(files.cached, cached_key(plan), count);
  std::vector<std::string> made;
  if (has_raw && has_cached) return made;
  if (sha256_hex(read_file(model)) != plan.model_sha256) {
    throw FormatError("'" + model.string() + "' is not the model that the plan was made for, or has changed since; " +
                      "measure and plan anew");
  }
  const nasbench::OnnxWeights weights(model);
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  std::vector<std::string> raw(count), cached(count);
  for (std::size_t i = 0; i < count; ++i) {
    const ColdLayer& layer = plan.network.layers[i];
    if (!layer.has_weights()) continue;
    raw[i] = raw_record(plan.network, layer, weights);
    if (has_cached || !plan.layers[i].cached) continue;
    PreparedLayer prepared(plan.network, layer, engine, plan.layers[i].kernel, false);
    prepared.transform(buffer_of(raw[i]), stream);
    cached[i].assign(prepared.weights().data(), prepared.cached_bytes());
  }
  const int capacity = dnnl::get_primitive_cache_capacity();
  dnnl::set_primitive_cache_capacity(0);  // forgets the kernels: a start after this is as cold as any
  dnnl::set_primitive_cache_capacity(capacity);
  make_folder(folder);
  if (!has_raw) {
    write_file_atomically(files.raw, WeightFile::content(raw_key(plan), raw));
    made.push_back(files.raw.filename().string());
  }
  if (!has_cached) {
    write_file_atomically(files.cached, WeightFile::content(cached_key(plan), cached));
    made.push_back(files.cached.filename().string());
  }
  return made;
}

WeightSource::WeightSource(const ColdPlan& plan, const std::filesystem::path& folder, std::filesystem::path model)
    : plan_(plan),
      model_(std::move(model)),
      raw_(opened(weight_folder(folder).raw, raw_key(plan), plan.layers.size())),
      cached_(reads_cached(plan) ? opened(weight_folder(folder).cached, cached_key(plan), plan.layers.size())
                                 : std::nullopt) {}

bool WeightSource::load_stored(const std::optional<WeightFile>& file, std::size_t i, std::size_t bytes,
                               Buffer& to) const {
  if (!file || file->bytes(i) != bytes) return false;
  to = Buffer(bytes);
  return file->read(i, to.data());
}

bool WeightSource::load(std::size_t i, PreparedLayer& layer, dnnl::stream& stream) {
  Buffer buffer;
  if (plan_.layers[i].cached) {
    if (load_stored(cached_, i, layer.cached_bytes(), buffer)) {
      layer.set_weights(std::move(buffer));
      return true;
    }
    // The slow way: the layer was made without its transformation.
    layer = PreparedLayer(plan_.network, plan_.network.layers[i], stream.get_engine(), plan_.layers[i].kernel, false);
  }
  bool stored = load_stored(raw_, i, layer.raw_bytes(), buffer);
  if (!stored) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!weights_) weights_ = std::make_unique<nasbench::OnnxWeights>(model_);
    buffer = buffer_of(raw_record(plan_.network, plan_.network.layers[i], *weights_));
  }
  layer.transform(std::move(buffer), stream);
  return stored && !plan_.layers[i].cached;
}

}  // namespace tenshot::descriptor
