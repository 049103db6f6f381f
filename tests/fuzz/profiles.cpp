// Tables of operators that a profiler timed one by one on some device-runtimes.

#include "experiments/kernels/profiles.h"

#include "tests/fuzz/fuzz.h"

using namespace tenshot;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::survives([&] {
    const experiments::ProfiledNetworks read = experiments::parse_profiles(fuzz::text_of(data, size), "o.csv");
    fuzz::require(!read.settings.empty(), "a table is of some device-runtime");
    for (const experiments::ProfiledNetwork& network : read.networks) {
      fuzz::require(network.profiles.size() == network.operators.size(), "every operator was timed");
      for (const std::vector<experiments::Profile>& profiles : network.profiles) {
        fuzz::require(profiles.size() == read.settings.size(), "on every device-runtime");
        for (const experiments::Profile& profile : profiles)
          fuzz::require(profile.latency_ms > 0, "a latency is positive");
      }
    }
  });
}
