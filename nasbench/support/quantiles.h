#pragma once

#include <cstddef>

namespace tenshot {

/// Inverse of the standard normal distribution function; `p` in (0, 1).
double normal_quantile(double p);

/// Inverse of the distribution function of Student's t; `p` in (0, 1), `freedom` at least 1.
double t_quantile(double p, std::size_t freedom);

}  // namespace tenshot
