#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "nasbench/spaces/network_space.h"
#include "trainer/core/archive.h"

namespace tenshot::trainer {

/// Writes into a card what get_space() needs: the space's name ("space"); its definition ("space_definition") where it
/// is not known by name; of networks, what `architectures` execute ("networks").
void put_space(nlohmann::json& card, const nasbench::NetworkSpace& space,
               const std::vector<nasbench::Architecture>& architectures);

/// A card's networks by name, known from then on; a name that two have is the last's. Throws FormatError, InputError.
std::vector<nasbench::Architecture> carried_networks(const nlohmann::json& card);

/// Architectures as bytes, one after the other, and back: as many as the bytes are enough for.
std::vector<std::uint8_t> packed(const std::vector<nasbench::Architecture>& architectures);
std::vector<nasbench::Architecture> unpacked(const std::vector<std::uint8_t>& bytes,
                                             const nasbench::NetworkSpace& space);

/// The space of a card; its networks are known from then on. Throws FormatError, InputError.
const nasbench::NetworkSpace& get_space(const nlohmann::json& card);

/// A predictor's card lists the measurements it was adapted on ("adaptation_set": architecture, latency_ms). Thousands
/// of such lines would make a file of megabytes, so a file keeps them as two arrays instead, and a reader finds the
/// card as it was. Cards with few measurements, and those of a space that has no name, stay as they are.
Archive with_packed_adaptation_set(const Archive& archive);

/// The inverse. Throws FormatError where the arrays do not fit each other or their space.
void unpack_adaptation_set(Archive& archive);

}  // namespace tenshot::trainer
