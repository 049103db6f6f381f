#include "nasbench/support/quantiles.h"

#include <boost/math/special_functions/erf.hpp>
#include <cmath>

namespace tenshot {

double normal_quantile(double p) {
  using namespace boost::math::policies;
  // Doubles are not widened to long double, which other processors lack; 0 and 1 give infinities.
  using Policy = policy<promote_double<false>, domain_error<ignore_error>, overflow_error<ignore_error>,
                        pole_error<ignore_error>, evaluation_error<ignore_error>>;
  return -std::sqrt(2.0) * boost::math::erfc_inv(2 * p, Policy());
}

}  // namespace tenshot
