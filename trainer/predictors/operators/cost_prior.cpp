#include "trainer/predictors/operators/cost_prior.h"

namespace tenshot::trainer::operators {
namespace {

using Posterior = PosteriorOptions;

const MixtureRanges ranges = {Allowed(1e-4, 10), Allowed(1e-3, 1e3), Allowed(1, 1e3), Allowed(1, 10'000)};

const std::vector<DeclaredOption<Posterior>> own = {
    {"cost_spread", &Posterior::cost_spread, Allowed(0, 1e3),
     "A cost's own standard deviation, as a share of the entry's cost. Larger trusts measurements more."},
    {"typical_spread", &Posterior::typical_spread, Allowed(0, 1e3),
     "What is added to that standard deviation, as a share of the mean cost of devices like the entry. Larger trusts "
     "measurements more."},
    {"spread_floor", &Posterior::spread_floor, Allowed(1e-6, 1e3),
     "What is added to it in units of the median latency. Larger trusts measurements more, and lets a cost appear that "
     "no device of the pool has."},
    {"evidence_power", &Posterior::evidence_power, Allowed(1e-3, 1),
     "Power of the evidence when components are weighted; below 1, as no hypothesis is quite right. Nearer to 1 "
     "decides sooner for one entry, nearer to 0 averages over all."},
    {"kind_share", &Posterior::kind_share, Allowed(0, 1),
     "How probable it is beforehand that a device is one of a kind (DeviceKind) and not like one entry of the library. "
     "Larger draws more devices towards what is typical of their kind."},
    {"group_share", &Posterior::group_share, Allowed(0, 1),
     "The weight of groups of networks that many boards measured (NetworkGroup), where all that was measured is of "
     "them, beside the 1 that entries and kinds have together. Larger draws more devices towards what is usual for the "
     "group."},
    {"other_runtimes", &Posterior::other_runtimes, Allowed(0, 1),
     "What entries and kinds of other runtimes weigh where the new device's runtime is said. Smaller trusts what is "
     "said more; 0 leaves others out, 1 makes nothing of it."},
    {"start_pull", &Posterior::start_pull, Allowed(0, 1e3),
     "LibraryOptions::typical_pull where the pool's quantity is cold starts. Larger trusts a device's own starts "
     "less."},
    {"operator_times", &Posterior::operator_times, Allowed(0, 1),
     "1: what operators take is learned where it was measured on devices of the pool (OperatorTimes); 0: it is not."},
    {"own_weight", &Posterior::own_weight, Allowed(0, 1e3),
     "What own operators of up to ten profiled networks weigh beside the 1 of all other entries; of more networks as "
     "many times more. Larger trusts profiles more."},
    {"own_error", &Posterior::own_error, Allowed(1e-3, 10),
     "The error of the other entries, log latency, above which own operators of ten networks or more weigh more still. "
     "Smaller trusts profiles more."},
    {"own_reach", &Posterior::own_reach, Allowed(0, 100),
     "How many doublings of size away an own operator corrects others of its kind and window by what trees leave of "
     "its time: the deviation of a Gaussian. 0: trees alone."},
};

const Declaration<Posterior> posterior(with_mixture_options(ranges, own));

}  // namespace

const Declaration<Posterior>& declared(const Posterior&) { return posterior; }

CostPrior cost_prior(const CostLibrary& library, const Eigen::MatrixXd& weights, std::size_t entry,
                     const PosteriorOptions& options) {
  CostPrior prior;
  prior.mean = library.costs.row(entry);
  const Eigen::RowVectorXd typical = weights.row(entry) * library.costs;
  prior.root =
      options.library_share * weights.row(entry).cwiseSqrt().asDiagonal() * (library.costs.rowwise() - typical);
  prior.variance = (options.cost_spread * prior.mean.array().abs() +
                    options.typical_spread * typical.transpose().array().abs() + options.spread_floor)
                       .square();
  return prior;
}

}  // namespace tenshot::trainer::operators
