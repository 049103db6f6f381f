#include <boost/math/distributions/students_t.hpp>

#include "nasbench/support/quantiles.h"

namespace tenshot {

double t_quantile(double p, std::size_t freedom) {
  namespace math = boost::math;
  // As in normal_quantile(). A file of its own: programs that need the normal one alone are 200 kB smaller without it.
  using Policy = math::policies::policy<math::policies::promote_double<false>>;
  return math::quantile(math::students_t_distribution<double, Policy>(static_cast<double>(freedom)), p);
}

}  // namespace tenshot
