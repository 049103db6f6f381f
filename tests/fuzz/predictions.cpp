// Tables of predictions, and of the architectures to measure.

#include <cmath>

#include "datasets/tables/measurements.h"
#include "tests/fuzz/memory_file.h"
#include "trainer/core/prediction_table.h"

using namespace tenshot;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string& path = fuzz::path_of(fuzz::text_of(data, size));
  fuzz::survives([&] { datasets::read_architectures(path, nasbench::nasbench201()); });
  return fuzz::survives([&] {
    const trainer::PredictionTable table = trainer::read_predictions(path, nasbench::nasbench201());
    for (const double latency_ms : table.predictions.latency_ms) {
      fuzz::require(std::isfinite(latency_ms), "a prediction is finite");
    }
  });
}
