// Descriptions of layered spaces. What is accepted has architectures that can be written, read and looked at.

#include <nlohmann/json.hpp>

#include "nasbench/spaces/layered_space.h"
#include "nasbench/support/json_reader.h"
#include "nasbench/support/random.h"
#include "tests/fuzz/fuzz.h"

using namespace tenshot;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::survives([&] {
    const nlohmann::json definition = parse_json(fuzz::text_of(data, size), "space.json");
    const nasbench::LayeredSpace& space = nasbench::LayeredSpace::intern(definition, "space.json", false);
    Rng rng(size);
    const nasbench::Architecture architecture = space.random(rng);
    fuzz::require(space.parse(space.format(architecture)) == architecture, "what is written reads again");
    space.operator_list(architecture);
    const nasbench::Network network = space.computation(architecture, space.default_shape(), 1);
    nasbench::require_sound(network);
    fuzz::require(nasbench::multiply_adds(network) == space.flop_count(architecture, space.default_shape()),
                  "a network costs what its space says");
  });
}
