#pragma once

#include <cstddef>
#include <string>

namespace tenshot {

// Numbers as people read them. What programs read is written by shortest() (numbers.h).

/// `value` with so many decimals: "12.30".
std::string decimals(double value, int count);

/// `value` with so many significant digits, without zeros at the end: "12.3", "1.2e+04".
std::string significant_digits(double value, int count);

/// A share in whole percent: "12 %".
std::string whole_percent(double share);

/// A share in two digits: "12 %", or "a factor of 3.1" of what is more than doubled by it.
std::string percent_or_factor(double share);

/// "1 network", "2 networks".
std::string counted(std::size_t count, const std::string& noun);

}  // namespace tenshot
