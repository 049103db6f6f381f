#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "nasbench/graph/operator_sequence.h"
#include "nasbench/spaces/network_space.h"
#include "nasbench/support/json_reader.h"

namespace tenshot::datasets {

/// Whether the space knows that operator by its name, channels and resolution (NetworkSpace::named_operation), or
/// nothing more is known of it: files then call it so.
bool is_known_by_name(const std::string& name, const nasbench::OperatorSequence& key,
                      const nasbench::NetworkSpace& space);

/// Writes `name`, `channels` and `resolution` into an entry of a file; where they do not say which operator it is, also
/// `input` and `operators`, its specifications.
void put_operator(nlohmann::json& entry, const std::string& name, const nasbench::OperatorSequence& key,
                  const nasbench::NetworkSpace& space);

/// The inverse: an operator that neither the entry nor the space says more of is an opaque one. Throws FormatError that
/// names the file and the key at fault.
nasbench::OperatorSequence read_operator_key(const JsonReader& entry, const std::string& name,
                                             const nasbench::NetworkSpace& space);

}  // namespace tenshot::datasets
