#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "datasets/pool/pool.h"
#include "trainer/core/archive.h"
#include "trainer/core/knowledge.h"

namespace tenshot::trainer {

/// The devices of a checkpoint of knowledge are as they were written and have no latencies (trainer/core/knowledge.h).
/// Throws FormatError when the arrays do not fit each other or the space.
datasets::Pool get_pool(const Archive& archive);

/// A hash of what a training on the pool depends on: what is said of it, the pool's content, LibTorch's version.
std::string training_fingerprint(const nlohmann::json& what, const datasets::Pool& pool);

/// The versions every card carries: of tenshot and LibTorch.
nlohmann::json version_card();

/// The content of a checkpoint of knowledge: what older programs name where they refuse it.
constexpr std::string_view knowledge_content = "knowledge";

bool is_knowledge(const Archive& archive);
/// Nothing of another archive. Throws FormatError that names the field, or says that the version is a later one.
std::optional<Knowledge> get_knowledge(const Archive& archive);

}  // namespace tenshot::trainer
