// Wide tables, one column for each device-runtime, and what is said of them.

#include <nlohmann/json.hpp>

#include "datasets/pool/describe.h"
#include "datasets/pool/pool.h"
#include "nasbench/spaces/search_space.h"
#include "tests/fuzz/fuzz.h"

using namespace tenshot;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::survives([&] {
    const datasets::Pool pool = datasets::parse_wide_table(fuzz::text_of(data, size), "w.csv", nasbench::nasbench201(),
                                                           {{}, datasets::RowRange{0, 100}});
    fuzz::require(!datasets::to_json(datasets::describe(pool), pool.findings).dump().empty(), "a pool is described");
  });
}
