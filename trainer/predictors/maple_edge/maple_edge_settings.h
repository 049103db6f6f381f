#pragma once

#include <nlohmann/json_fwd.hpp>

#include "trainer/core/archive_reader.h"
#include "trainer/predictors/maple_edge/maple_edge.h"

namespace tenshot::trainer {

/// What a card keeps of the settings of `maple-edge-plain` and `maple`.
nlohmann::json settings_json(const MapleEdgeSettings& settings);

/// The inverse, from a checkpoint's whole card. Throws FormatError that names the field at fault.
MapleEdgeSettings settings_of(const CardField& card);

/// The same for `maple-edge`, whose network learns from simulated devices. Reading also throws InputError that names
/// the first option of the simulation that is out of range.
nlohmann::json simulated_settings_json(const MapleEdgeSettings& settings);
MapleEdgeSettings simulated_settings_of(const CardField& card);

}  // namespace tenshot::trainer
