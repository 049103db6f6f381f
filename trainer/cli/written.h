#pragma once

#include <string>

namespace tenshot::cli {

/// The last line of a verb that succeeded: "device.tenshot: predictor written; next: tenshot predict --predictor
/// device.tenshot --out predictions.csv". `next` may be empty; nothing is said of standard output ("-").
void say_written(const std::string& out, const std::string& what, const std::string& next, bool quiet);

}  // namespace tenshot::cli
