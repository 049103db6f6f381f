// ncnn networks. What is read is sound: its operators have shapes and costs.

#include "nasbench/formats/network_file.h"
#include "tests/fuzz/network_file.h"

using namespace tenshot;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::survives([&] { fuzz::require_sound(nasbench::read_ncnn(fuzz::path_of(fuzz::text_of(data, size)))); });
}
