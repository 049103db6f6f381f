// Reading the ONNX file of MobileNetV2 (14 MB) as a network with shapes, beside libonnx alone: its parser and its shape
// inference, which is less than what ours gives. The file is one that tests/networks/export_networks.py writes;
// TENSHOT_EXPORTS names its folder.

#include <benchmark/benchmark.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "nasbench/graph/onnx_reader.h"

namespace {

std::optional<std::filesystem::path> exported_network(benchmark::State& state) {
  const char* folder = std::getenv("TENSHOT_EXPORTS");
  if (folder != nullptr) {
    std::filesystem::path file = std::filesystem::path(folder) / "mobilenet_v2.onnx";
    if (std::filesystem::exists(file)) return file;
  }
  state.SkipWithError("TENSHOT_EXPORTS does not name a folder with mobilenet_v2.onnx");
  return std::nullopt;
}

void ReadMobileNetV2(benchmark::State& state) {
  const auto file = exported_network(state);
  if (!file) return;
  for (auto _ : state) benchmark::DoNotOptimize(tenshot::nasbench::read_onnx(*file));
}
BENCHMARK(ReadMobileNetV2)->Unit(benchmark::kMillisecond);

void ReadMobileNetV2ByLibonnx(benchmark::State& state) {
  const auto file = exported_network(state);
  if (!file) return;
  for (auto _ : state) {
    std::ifstream stream(*file, std::ios::binary);
    onnx::ModelProto model;
    if (!model.ParseFromIstream(&stream)) return state.SkipWithError("libonnx cannot parse the file");
    onnx::shape_inference::InferShapes(model);
    benchmark::DoNotOptimize(model);
  }
}
BENCHMARK(ReadMobileNetV2ByLibonnx)->Unit(benchmark::kMillisecond);

}  // namespace
