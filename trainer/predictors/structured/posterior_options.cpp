#include "trainer/core/options.h"
#include "trainer/predictors/structured/posterior.h"

namespace tenshot::trainer::structured {
namespace {

using Posterior = PosteriorOptions;

constexpr double many = 10'000'000, unbounded = 1e300;

const Declaration<Posterior> posterior({
    {"noises", &Posterior::noises, Allowed(1e-4, unbounded),
     "Standard deviations of log latency about the costs, tried in turn. More of them cost time in proportion; without "
     "large ones, an unsteady device makes costs follow its noise."},
    {"library_share", &Posterior::library_share, Allowed(0, 1e3),
     "h: the library's spread of costs counts h-fold. Larger lets a device be less like the pool, and takes more "
     "measurements to be sure; 0 keeps the costs within cost_spread of an entry's."},
    {"cost_spread", &Posterior::cost_spread, Allowed(0, 1e3),
     "A cost's own standard deviation beside the library's spread, as a share of the mean cost of the entry. Larger "
     "trusts measurements more and the pool less."},
    {"cost_spread_floor", &Posterior::cost_spread_floor, Allowed(1e-6, 1e3),
     "What is added to that standard deviation, in units of the median latency. Larger trusts measurements more and "
     "the pool less."},
    {"closeness", &Posterior::closeness, Allowed(1e-3, unbounded),
     "How far a device may be from its library entry, in units of the spread above, tried in turn: some devices are "
     "nearly the same as one of the pool. More of them cost time in proportion."},
    {"residual_share", &Posterior::residual_share, Allowed(0, 10),
     "The Gaussian process of residuals has the standard deviation residual_share · σ; 0: no process. Larger predicts "
     "networks nearer to what alike ones measured, and follows their noise."},
    {"student_freedom", &Posterior::student_freedom, Allowed(1, 1e3, Allowed::or_zero),
     "ν of the Student distribution of the noise; 0: Gaussian. Larger lets single measurements that are far off pull "
     "the costs further."},
    {"slow_steps", &Posterior::slow_steps, Allowed(0, unbounded),
     "Many devices measure in two speeds, minutes of one after minutes of the other (clocks, neighbours): by how much "
     "log latency is larger in the slow one, tried in turn; 0 = one speed. Costs are those of the fast, more frequent "
     "one. More of them cost time in proportion."},
    {"slow_share", &Posterior::slow_share, Allowed(0, 0.5),
     "Share of measurements that are made in the slow speed. Larger suspects it sooner."},
    {"largest_slow_noise", &Posterior::largest_slow_noise, Allowed(0, 1),
     "σ up to which two speeds can be told apart from noise. Larger takes longer."},
    {"gross_share", &Posterior::gross_share, Allowed(0, 0.5),
     "Share of measurements that are simply wrong. Larger protects from more mistakes, and makes less of a true "
     "measurement that surprises."},
    {"gross_spread", &Posterior::gross_spread, Allowed(1e-3, 10),
     "Standard deviation of the log latency of measurements that are simply wrong. Larger protects from worse "
     "mistakes."},
    {"newton_steps", &Posterior::newton_steps, Allowed(1, 1000),
     "Steps of Gauss–Newton for each hypothesis. More cost time, and change little once it has settled."},
    {"path_entries", &Posterior::path_entries, Allowed(1, many),
     "Entries refitted for each σ where a structure's slowest path depends on the costs. More cost time and miss "
     "less."},
    {"kept", &Posterior::kept, {1, many}, "Components kept. More make predictions slower and files larger."},
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
});

}  // namespace

const Declaration<Posterior>& declared(const Posterior&) { return posterior; }

}  // namespace tenshot::trainer::structured
