// device.json: what it holds is written again as it was read.

#include "datasets/pool/device_file.h"

#include <nlohmann/json.hpp>

#include "tests/fuzz/fuzz.h"

using namespace tenshot;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::survives([&] {
    const nlohmann::json json = parse_json(fuzz::text_of(data, size), "device.json");
    const datasets::DeviceFile file = datasets::device_file_from_json(json, "device.json");
    fuzz::require(file.latencies.find('/') == std::string::npos, "latencies stand beside the device file");
    const nlohmann::json written = datasets::to_json(file.device, *file.space);
    const datasets::DeviceFile read_again = datasets::device_file_from_json(written, "again");
    const std::string again = datasets::to_json(read_again.device, *file.space).dump();
    fuzz::require(again == written.dump(), "what was read reads again");
  });
}
