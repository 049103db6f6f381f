#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "datasets/pool/pool.h"
#include "trainer/predictors/structured/posterior.h"

namespace tenshot::trainer::structured {

/// What a person wants to know of the device (explanation.h) in words, one sentence a line. `others` are architectures
/// that could be measured next. `milliseconds`: the measurements and the pool are both in them.
nlohmann::json explanation_lines(const StructuredPosterior& posterior, const StructuredLibrary& library,
                                 const Evidence& evidence, const std::vector<nasbench::Architecture>& others,
                                 bool milliseconds);

/// What the pool cannot do for a device, one sentence each: too few device-runtimes to check intervals on, operators
/// that were measured at another resolution. `descriptor` is what the adaptation used; nothing: none.
std::vector<std::string> pool_warnings(const datasets::Pool& pool, const datasets::HardwareDescriptor* descriptor);

}  // namespace tenshot::trainer::structured
