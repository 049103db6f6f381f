// device.json: what it holds is written again as it was read.

#include "datasets/pool/device_file.h"

#include <nlohmann/json.hpp>

#include "tests/fuzz/fuzz.h"

using namespace tenshot;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::survives([&] {
    const datasets::DeviceFile file = datasets::parse_device_file(fuzz::text_of(data, size), "device.json");
    fuzz::require(file.latencies.find('/') == std::string::npos, "latencies stand beside the device file");
    const nlohmann::json written = datasets::to_json(file.device, *file.space);
    const std::string again = datasets::to_json(datasets::device_from_json(written, "again"), *file.space).dump();
    fuzz::require(again == written.dump(), "what was read reads again");
  });
}
