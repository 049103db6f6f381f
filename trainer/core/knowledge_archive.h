#pragma once

#include <string_view>

#include "datasets/pool/pool.h"
#include "trainer/core/archive.h"
#include "trainer/core/knowledge.h"

namespace tenshot::trainer {

/// The content of a checkpoint of knowledge: what older programs name where they refuse it.
constexpr std::string_view knowledge_content = "knowledge";

/// The beginning of the archive of a checkpoint of knowledge, whose version is its own. `identities` are those of
/// identities_of().
Archive knowledge_archive(const datasets::Pool& identities, const Knowledge& knowledge, std::string_view predictor);

/// True for an archive of knowledge.
bool is_knowledge(const Archive& archive);
/// Throws FormatError that names the field, and on a later version that says so.
Knowledge get_knowledge(const Archive& archive);
/// The device-runtimes as they were written, without latencies. Throws FormatError.
datasets::Pool get_identities(const Archive& archive);

}  // namespace tenshot::trainer
