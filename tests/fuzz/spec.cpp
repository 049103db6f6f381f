// Specs of experiments. The first byte says whether --quick is given.

#include "trainer/evaluation/spec.h"

#include "tests/fuzz/fuzz.h"

using namespace tenshot;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  return fuzz::survives([&] {
    trainer::evaluation::parse_spec(std::string(fuzz::text_of(data + 1, size - 1)), "spec.json", data[0] == 'q');
  });
}
