// What perf stat and callgrind print, and the times that a kit's backends leave. The first byte says which.

#include "datasets/kit/board_results.h"
#include "descriptor/callgrind/callgrind_dump.h"
#include "tests/fuzz/fuzz.h"

using namespace tenshot;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text = fuzz::text_of(data + 1, size - 1);
  return fuzz::survives([&] {
    switch (data[0]) {
      case 'p': datasets::parse_perf_stat(text); break;
      case 'c': descriptor::parse_callgrind_dump(text, "callgrind.out"); break;
      case 'j': datasets::times_from_json(text, "times.json"); break;
      case 'l': datasets::times_from_lines(text, "times.txt"); break;
      default: datasets::times_from_perf_test(text, "perf_test.txt");
    }
  });
}
