#pragma once

#include <nlohmann/json_fwd.hpp>

#include "trainer/core/archive_reader.h"
#include "trainer/predictors/maple_edge/maple_edge.h"

namespace tenshot::trainer {

/// What a card keeps of the settings of `maple-edge-plain` and `maple`.
nlohmann::json settings_json(const MapleEdgeSettings& settings);

/// The inverse, from a checkpoint's whole card. Throws FormatError that names the field at fault.
MapleEdgeSettings settings_of(const CardField& card);

}  // namespace tenshot::trainer
