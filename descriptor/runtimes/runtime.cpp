#include "descriptor/runtimes/runtime.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "descriptor/runtimes/libtorch_runtime.h"
#include "descriptor/runtimes/opencv_dnn.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/text.h"

namespace tenshot::descriptor {
namespace {

constexpr std::string_view magic = "TSWEIGHT";
constexpr std::size_t header = magic.size() + sizeof(std::uint64_t);

using Parts = std::array<std::vector<float> nasbench::LayerWeights::*, 4>;
constexpr Parts parts = {&nasbench::LayerWeights::weight, &nasbench::LayerWeights::bias, &nasbench::LayerWeights::mean,
                         &nasbench::LayerWeights::variance};

std::array<std::size_t, 4> sizes_of(const nasbench::NetworkNode& node) {
  const nasbench::WeightShapes shapes = nasbench::weight_shapes(node);
  const auto size = [](const nasbench::Shape& shape) {
    return shape.empty() ? 0 : static_cast<std::size_t>(nasbench::element_count(shape));
  };
  return {size(shapes.weight), size(shapes.bias), size(shapes.mean), size(shapes.variance)};
}

}  // namespace

std::vector<std::string> libtorch_runtime_names() {
  return {"libtorch-eager",         "libtorch-frozen", "libtorch-optimized", "libtorch-xnnpack",
          "libtorch-channels-last", "libtorch-int8",   "libtorch-cuda"};
}

std::vector<std::string> runtime_names() {
  std::vector<std::string> names = libtorch_runtime_names();
  if (has_opencv()) names.emplace_back(opencv_runtime_name);
  return names;
}

std::unique_ptr<Runtime> make_runtime(std::string_view name) {
  const std::vector<std::string> names = libtorch_runtime_names();
  if (std::find(names.begin(), names.end(), name) != names.end()) return make_libtorch_runtime(name);
  if (name == opencv_runtime_name) return make_opencv_runtime();
  throw InputError("no runtime '" + std::string(name) + "'; there are " + joined(runtime_names()));
}

void require_images(const nasbench::Network& network, std::string_view runtime) {
  for (const nasbench::NetworkInput& input : network.inputs) {
    if (input.type.type == nasbench::ElementType::float32 && !input.type.shape.empty()) continue;
    throw InputError("input '" + input.name + "': " + std::string(runtime) + " takes images in float32");
  }
}

void require_values(const std::vector<float>& input, std::int64_t expected) {
  if (static_cast<std::int64_t>(input.size()) == expected) return;
  throw InputError("the network's input has " + std::to_string(expected) +
                   " values (batch x channels x height x width), found " + std::to_string(input.size()));
}

void write_weights_file(const std::filesystem::path& path, const nasbench::Network& network, std::uint64_t seed) {
  std::string bytes(header, '\0');
  for (std::size_t i = 0; i < network.nodes.size(); ++i) {
    const nasbench::LayerWeights weights = nasbench::random_weights(network, i, seed);
    for (const auto part : parts) {
      const std::vector<float>& values = weights.*part;
      bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    }
  }
  const std::uint64_t floats = (bytes.size() - header) / sizeof(float);
  std::memcpy(bytes.data(), magic.data(), magic.size());
  std::memcpy(bytes.data() + magic.size(), &floats, sizeof floats);
  write_file_atomically(path, bytes);
}

std::shared_ptr<const Weights> read_weights_file(const std::filesystem::path& path, const nasbench::Network& network) {
  const std::string bytes = read_file(path);
  std::uint64_t floats = 0, expected = 0;
  for (const nasbench::NetworkNode& node : network.nodes) {
    for (const std::size_t size : sizes_of(node)) expected += size;
  }
  if (bytes.size() < header || std::string_view(bytes).substr(0, magic.size()) != magic) {
    throw FormatError(path.string() + ": is no file of weights");
  }
  std::memcpy(&floats, bytes.data() + magic.size(), sizeof floats);
  if (floats != expected || bytes.size() != header + expected * sizeof(float)) {
    throw FormatError(path.string() + ": holds " + std::to_string((bytes.size() - header) / sizeof(float)) +
                      " weights, the network has " + std::to_string(expected) + "; write the file anew");
  }
  auto weights = std::make_shared<Weights>(network.nodes.size());
  const char* at = bytes.data() + header;
  for (std::size_t i = 0; i < network.nodes.size(); ++i) {
    const std::array<std::size_t, 4> sizes = sizes_of(network.nodes[i]);
    for (std::size_t part = 0; part < parts.size(); ++part) {
      std::vector<float>& values = (*weights)[i].*parts[part];
      values.resize(sizes[part]);
      if (!values.empty()) std::memcpy(values.data(), at, sizes[part] * sizeof(float));
      at += sizes[part] * sizeof(float);
    }
  }
  return weights;
}

}  // namespace tenshot::descriptor
