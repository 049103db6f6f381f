#include "trainer/core/options.h"
#include "trainer/predictors/maple_edge/simulated_devices.h"

namespace tenshot::trainer {
namespace {

using Simulation = SimulationOptions;

const Declaration<Simulation> simulation(
    {
        {"cost_spreads", &Simulation::cost_spreads, Allowed(0, 5),
         "Costs of a device are those of an entry of the library, each times exp(spread · z), z ~ N(0, 1), with one of "
         "these spreads. Larger ones make up devices that are less like the pool."},
        {"described_share", &Simulation::described_share, Allowed(0, 1),
         "Share of devices that are drawn as described, where there is a descriptor. Larger trusts the descriptor "
         "more."},
        {"descriptor_inputs", &Simulation::descriptor_inputs, Allowed(),
         "When training for one set of measurements, whether the kinds of descriptor by which devices are not drawn "
         "are inputs of the network, made up for made-up devices."},
        {"masked_share", &Simulation::masked_share, Allowed(0, 1),
         "Share of devices that lack a kind of descriptor, each kind by itself. Larger needs descriptors less."},
        {"wild_share", &Simulation::wild_share, Allowed(0, 1),
         "Share of devices whose costs are log-uniform over two decades, whatever the library says. Larger is ready "
         "for stranger devices, and less exact on those like the pool."},
        {"least_noise", &Simulation::least_noise, Allowed(1e-6, 1),
         "Least σ of log latency of one measurement, which is log-uniform per device. Larger follows measurements "
         "less."},
        {"most_noise", &Simulation::most_noise, Allowed(1e-6, 1),
         "Largest σ of log latency of one measurement. Larger follows measurements less."},
        {"residual_share", &Simulation::residual_share, Allowed(0, 10),
         "Standard deviation, as a share of σ, of what no structure explains: of log latency, a sum of one number per "
         "decision taken and one per live decision taken. Larger believes structures less."},
        {"two_speed_share", &Simulation::two_speed_share, Allowed(0, 1),
         "Share of devices that measure in two speeds, a quarter of all in the slow one. Larger suspects it sooner."},
        {"slow_step", &Simulation::slow_step, Allowed(0, 2),
         "By how much log latency is larger in the slow speed, at most. Larger expects slower ones."},
        {"acceptance", &Simulation::acceptance, Allowed(1e-6, 1),
         "Share of made-up devices kept: those whose latencies of the measured architectures are nearest to the "
         "measured ones; 1: all. Training on that part of the prior alone changes no conditional expectation at the "
         "measured values as long as all plausible devices are in it (truncated proposals: Deistler, Goncalves and "
         "Macke, NeurIPS 2022)."},
        {"rows", &Simulation::rows, Allowed(1, 10'000'000),
         "Rows of training, drawn anew for every epoch. More take longer."},
        {"pool_share", &Simulation::pool_share, Allowed(0, 1),
         "Share of the rows that are of the pool's devices. Larger believes the pool more than what was made up."},
        {"error_unit", &Simulation::error_unit, Allowed(1e-6, 10),
         "Of log latency: up to which errors count by their squares, beyond by their sizes. Larger lets large errors "
         "count more."},
    },
    [](const Simulation& options) {
      if (options.least_noise > options.most_noise)
        throw BadOption({"least_noise"}, "a least_noise of at most most_noise");
    });

}  // namespace

const Declaration<Simulation>& declared(const Simulation&) { return simulation; }

}  // namespace tenshot::trainer
