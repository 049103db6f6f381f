// TensorFlow Lite models, as they are and with a size for what they leave open. What is read is sound: its operators
// have shapes and costs.

#include "nasbench/formats/network_file.h"
#include "tests/fuzz/network_file.h"

using namespace tenshot;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nasbench::NetworkReadOptions sized;
  sized.shapes = {{"image", {1, 32, 48, 3}}};
  sized.inputs_of_several = std::make_shared<std::set<std::string>>();
  for (const nasbench::NetworkReadOptions& options : {nasbench::NetworkReadOptions(), sized}) {
    fuzz::survives(
        [&] { fuzz::require_sound(nasbench::read_tflite(fuzz::path_of(fuzz::text_of(data, size)), options)); });
  }
  return 0;
}
