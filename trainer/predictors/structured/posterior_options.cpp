#include "trainer/core/options.h"
#include "trainer/predictors/structured/posterior.h"

namespace tenshot::trainer::structured {
namespace {

using Posterior = StructuredPosteriorOptions;

constexpr double many = 10'000'000, unbounded = 1e300;

const MixtureRanges ranges = {Allowed(1e-4, unbounded), Allowed(1e-3, unbounded), Allowed(1, 1e3, Allowed::or_zero),
                              Allowed(1, many)};

const std::vector<DeclaredOption<Posterior>> own = {
    {"cost_spread", &Posterior::cost_spread, Allowed(0, 1e3),
     "A cost's own standard deviation beside the library's spread, as a share of the mean cost of the entry. Larger "
     "trusts measurements more and the pool less."},
    {"cost_spread_floor", &Posterior::cost_spread_floor, Allowed(1e-6, 1e3),
     "What is added to that standard deviation, in units of the median latency. Larger trusts measurements more and "
     "the pool less."},
    {"slow_steps", &Posterior::slow_steps, Allowed(0, unbounded),
     "Many devices measure in two speeds, minutes of one after minutes of the other (clocks, neighbours): by how much "
     "log latency is larger in the slow one, tried in turn; 0 = one speed. Costs are those of the fast, more frequent "
     "one. More of them cost time in proportion."},
    {"slow_share", &Posterior::slow_share, Allowed(0, 0.5),
     "Share of measurements that are made in the slow speed. Larger suspects it sooner."},
    {"largest_slow_noise", &Posterior::largest_slow_noise, Allowed(0, 1),
     "σ up to which two speeds can be told apart from noise. Larger takes longer."},
    {"path_entries", &Posterior::path_entries, Allowed(1, many),
     "Entries refitted for each σ where a structure's slowest path depends on the costs. More cost time and miss "
     "less."},
    {"left_out", &Posterior::left_out, Allowed(), "Structures that are not considered, for ablations."},
    {"described_share", &Posterior::described_share, Allowed(1e-6, 1 - 1e-6),
     "Prior probability, where the device has a descriptor, that it is as described and not like one of the library. "
     "Nearer to 1 trusts the descriptor against the measurements for longer."},
    {"described_spread", &Posterior::described_spread, Allowed(1e-6, 10),
     "Standard deviation of a described cost, in units of the median latency, beside what held-out runtimes show. "
     "Larger trusts measurements more and the descriptor less."},
    {"strange_share", &Posterior::strange_share, Allowed(0, 1),
     "When planning before any measurement, the probability that the device is like none of the library. Larger plans "
     "for stranger devices and less for those like the pool."},
    {"strange_devices", &Posterior::strange_devices, Allowed(0, 1000),
     "How many such devices, with costs drawn log-uniform over two decades, speak for all of them. More take longer to "
     "plan with, and a plan depends less on which were drawn; 0: the library alone."},
    {"planning_noise", &Posterior::planning_noise, Allowed(1e-4, 10),
     "σ of a measurement's log latency that planning before any measurement expects. Larger rests a plan less on "
     "single measurements."},
};

const Declaration<Posterior> posterior(with_mixture_options(ranges, own));

}  // namespace

const Declaration<Posterior>& declared(const Posterior&) { return posterior; }

}  // namespace tenshot::trainer::structured
