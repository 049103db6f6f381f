#pragma once

#include <array>
#include <cstddef>

namespace tenshot {

/// The 95 % quantile of Student's t: for ten degrees of freedom and fewer as tabulated, for more by Cornish and
/// Fisher's expansion (Hill, 1970), whose error is below 0.002 there. `freedom` is at least 1.
inline double t_quantile(std::size_t freedom) {
  constexpr std::array<double, 10> tabulated = {6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812};
  if (freedom <= tabulated.size()) return tabulated[freedom - 1];
  const auto v = static_cast<double>(freedom);
  return 1.645 + 1.524 / v + 1.420 / (v * v);
}

}  // namespace tenshot
