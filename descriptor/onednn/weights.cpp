#include "descriptor/onednn/weights.h"

#include <cstring>

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

Buffer buffer_of(const std::string& record) {
  Buffer buffer(record.size());
  std::memcpy(buffer.data(), record.data(), record.size());
  return buffer;
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
    prepared.transform(buffer_of(records[i]), stream);
    records[i].assign(prepared.weights().data(), prepared.cached_bytes());
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

bool WeightSource::load(std::size_t i, PreparedLayer& layer, dnnl::stream& stream) {
  const bool cached = plan_.layers[i].cached;
  const std::size_t bytes = cached ? layer.cached_bytes() : layer.raw_bytes();
  if (stored_ && stored_->bytes(i) == bytes) {
    Buffer buffer(bytes);
    if (stored_->read(i, buffer.data())) {
      if (cached) {
        layer.set_weights(std::move(buffer));
      } else {
        layer.transform(std::move(buffer), stream);
      }
      return true;
    }
  }
  // The slow way: the layer may have been made without its transformation.
  layer = PreparedLayer(plan_.network, plan_.network.layers[i], stream.get_engine(), plan_.layers[i].kernel, false);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!weights_) weights_ = std::make_unique<nasbench::OnnxWeights>(model_);
  layer.transform(buffer_of(raw_record(plan_.network, plan_.network.layers[i], *weights_)), stream);
  return false;
}

}  // namespace tenshot::descriptor
