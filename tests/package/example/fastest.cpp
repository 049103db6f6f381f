// fastest device.tenshot [ARCHITECTURE|model.onnx …]: says how far the predictor is to be trusted, and the latency of
// each network, the fastest first; without networks what the predictor was made from, as JSON. The predictor is read
// from memory, as where it comes out of a program's own archive.
#include <tenshot/network.h>
#include <tenshot/predictor.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

int main(int count, char** arguments) try {
  if (count < 2) return 2;
  std::ifstream file(arguments[1], std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  const auto predictor = tenshot::LatencyPredictor::from_memory(content, arguments[1]);
  std::printf("%s\n", count == 2 ? predictor.provenance().c_str() : predictor.verdict().c_str());
  std::vector<std::pair<tenshot::PredictedLatency, std::string>> found;
  for (int i = 2; i < count; ++i) {
    const std::string network = arguments[i];
    const bool is_file = std::filesystem::exists(network);
    const tenshot::PredictedLatency latency = is_file ? predictor.predict({tenshot::read_network(network)}).front()
                                                      : predictor.predict(std::vector{network}).front();
    found.emplace_back(latency, network);
  }
  const auto faster = [](const auto& a, const auto& b) { return a.first.latency_ms < b.first.latency_ms; };
  std::sort(found.begin(), found.end(), faster);
  for (const auto& [latency, network] : found) {
    std::printf("%.9g ms (90 %%: %.9g to %.9g) %s\n", latency.latency_ms, latency.lower_ms, latency.upper_ms,
                network.c_str());
  }
} catch (const tenshot::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
