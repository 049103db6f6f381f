// Tables of operators: a row for each operator of a network.

#include "datasets/tables/network_sources.h"
#include "tests/fuzz/fuzz.h"

using namespace tenshot;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::survives([&] {
    for (const nasbench::NamedNetwork& network : datasets::parse_operator_table(fuzz::text_of(data, size), "o.csv")) {
      for (const nasbench::OperatorSpecification& operation : network.operators) {
        fuzz::require(nasbench::multiply_adds(operation) >= 0, "an operator computes something or nothing");
      }
    }
  });
}
