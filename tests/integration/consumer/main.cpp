// consumer device.tenshot: prints the predicted latency of one architecture.
#include <cstdio>

#include "nasbench/spaces/search_space.h"
#include "trainer/predictors/registry.h"

int main(int, char** argv) {
  const auto predictor = tenshot::trainer::load_predictor(argv[1]);
  const auto architecture = tenshot::nasbench::search_space(predictor->space()).at(4321);
  std::printf("%.9g\n", predictor->predict({architecture}, 0.9).latency_ms[0]);
}
