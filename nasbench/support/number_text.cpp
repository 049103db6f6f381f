#include "nasbench/support/number_text.h"

#include <cstdio>

namespace tenshot {

constexpr std::size_t longest_number = 400;  // the largest double has 309 digits before the point

std::string decimals(double value, int count) {
  char text[longest_number];
  std::snprintf(text, sizeof text, "%.*f", count, value);
  return text;
}

std::string significant_digits(double value, int count) {
  char text[longest_number];
  std::snprintf(text, sizeof text, "%.*g", count, value);
  return text;
}

std::string whole_percent(double share) { return decimals(100 * share, 0) + " %"; }

std::string percent_or_factor(double share) {
  if (share < 1) return significant_digits(100 * share, 2) + " %";
  return "a factor of " + (share < 9 ? significant_digits(1 + share, 2) : decimals(1 + share, 0));
}

std::string counted(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace tenshot
