// What the C++ library predicts, for exports_test.py: library_predictions device.tenshot <architectures >latencies_ms
#include <tenshot/predictor.h>

#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::vector<std::string> architectures;
  for (std::string line; std::getline(std::cin, line);) architectures.push_back(line);
  try {
    for (const tenshot::PredictedLatency& latency : tenshot::LatencyPredictor(argv[1]).predict(architectures)) {
      std::printf("%.17g\n", latency.latency_ms);
    }
  } catch (const tenshot::Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return 0;
}
