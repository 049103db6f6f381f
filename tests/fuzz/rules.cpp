// Fusion rules. What is accepted is written and read again the same, and finds every operator of a network once.

#include <nlohmann/json.hpp>

#include "nasbench/graph/network_builder.h"
#include "nasbench/kernels/fusion_rules.h"
#include "nasbench/kernels/kernel_search.h"
#include "tests/fuzz/fuzz.h"

using namespace tenshot;

namespace {

/// Branches, additions and what rules are about.
nasbench::Network network() {
  nasbench::NetworkBuilder b;
  nasbench::Source x = b.input("input", {1, 4, 8, 8});
  for (const char* block : {"a", "b"}) {
    const std::string name = block;
    const nasbench::Source left = b.convolution(name + "left", x, 4, {nasbench::same_window(3)});
    const nasbench::Source normed = b.batch_norm(name + "norm", left);
    const nasbench::Source right = b.convolution(name + "right", x, 4, {nasbench::same_window(3), 4});
    x = b.activation(name + "relu", b.add(name + "add", normed, right), "relu");
  }
  b.output(b.linear("classify", b.global_average_pool("pool", x), 3));
  return b.take();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const nasbench::Network of_all = network();
  return fuzz::survives([&] {
    const nasbench::FusionRules rules = nasbench::parse_fusion_rules(fuzz::text_of(data, size), "rules.json");
    const std::string text = to_json(rules).dump();
    fuzz::require(to_json(nasbench::parse_fusion_rules(text, "again.json")).dump() == text,
                  "what is written reads again");
    std::size_t operators = 0;
    for (const nasbench::Kernel& kernel : find_kernels(of_all, rules)) operators += kernel.nodes.size();
    fuzz::require(operators == of_all.nodes.size(), "every operator is in one kernel");
  });
}
