#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "nasbench/graph/operator_specification.h"

namespace tenshot::nasbench {

/// An operator specification as files keep it: `kind`, `inputs` and `output`, and of the rest what is not the default.
nlohmann::json specification_json(const OperatorSpecification& specification);

/// The inverse, and a shape alone. Both throw FormatError that names `file` and the `place` in it.
OperatorSpecification specification_from_json(const nlohmann::json& value, const std::string& file,
                                              const std::string& place);
Shape shape_from_json(const nlohmann::json& value, const std::string& file, const std::string& place);

}  // namespace tenshot::nasbench
