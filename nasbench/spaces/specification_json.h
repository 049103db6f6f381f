#pragma once

#include <nlohmann/json_fwd.hpp>

#include "nasbench/graph/operator_specification.h"
#include "nasbench/support/json_reader.h"

namespace tenshot::nasbench {

/// An operator specification as files keep it: `kind`, `inputs` and `output`, and of the rest what is not the default.
nlohmann::json specification_json(const OperatorSpecification& specification);

/// The inverse, and the shape under `key`, of which `meaning` says what it is. Both throw FormatError.
OperatorSpecification specification_from_json(const JsonReader& reader);
Shape shape_from_json(const JsonReader& reader, const char* key, const char* meaning);

}  // namespace tenshot::nasbench
