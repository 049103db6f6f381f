// Tables of measurements.

#include "datasets/tables/measurements.h"

#include <cmath>

#include "nasbench/spaces/search_space.h"
#include "tests/fuzz/fuzz.h"

using namespace tenshot;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::survives([&] {
    const auto read = datasets::parse_measurements(fuzz::text_of(data, size), "m.csv", nasbench::nasbench201());
    for (const datasets::Measurement& row : read.rows) {
      fuzz::require(std::isfinite(row.latency_ms) && row.latency_ms > 0, "a latency is finite and positive");
    }
  });
}
