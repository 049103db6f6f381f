#include "nasbench/support/quantiles.h"

#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace tenshot {
namespace {

namespace math = boost::math;
/// Doubles are not widened to long double, which other processors lack.
using Policy = math::policies::policy<math::policies::promote_double<false>>;

}  // namespace

double normal_quantile(double p) { return math::quantile(math::normal_distribution<double, Policy>(), p); }

double t_quantile(double p, std::size_t freedom) {
  return math::quantile(math::students_t_distribution<double, Policy>(static_cast<double>(freedom)), p);
}

}  // namespace tenshot
