#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenshot::datasets {

/// How many milliseconds one "s", "ms" or "us" is. Throws InputError that lists the units.
double milliseconds_of(std::string_view unit);

/// A sentence that asks for the unit where one source's latencies are about a thousand or a million times another's,
/// else "". `ratios` are of the networks that both measured, `first` over `second`.
std::string unit_doubt(std::vector<double> ratios, const std::string& first, const std::string& second);

}  // namespace tenshot::datasets
