// networks.json: networks by name, as pools and kits keep them. What was read is written, and read again the same.

#include "nasbench/spaces/networks.h"

#include <nlohmann/json.hpp>

#include "nasbench/support/json_reader.h"
#include "tests/fuzz/fuzz.h"

using namespace tenshot;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::survives([&] {
    const auto identities = nasbench::add_networks(parse_json(fuzz::text_of(data, size), "n.json"), "n.json");
    const nlohmann::json written = nasbench::networks_json(identities);
    const auto again = nasbench::add_networks(parse_json(written.dump(), "again"), "again");
    fuzz::require(nasbench::networks_json(again) == written, "what was read reads again");
  });
}
