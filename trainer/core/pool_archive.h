#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "datasets/pool/pool.h"
#include "trainer/core/archive.h"
#include "trainer/core/knowledge.h"

namespace tenshot::trainer {

/// The pool of a checkpoint. The devices of one of knowledge have no latencies (trainer/core/knowledge.h). Throws
/// FormatError when the arrays do not fit each other or the space, and on knowledge of a later version, which it says.
datasets::Pool get_pool(const Archive& archive);

/// A hash of what a training on the pool depends on: what is said of it, the pool's content, LibTorch's version.
std::string training_fingerprint(const nlohmann::json& what, const datasets::Pool& pool);

/// The versions every card carries: of tenshot and LibTorch.
nlohmann::json version_card();

/// The content of a checkpoint of knowledge: what older programs name where they refuse it.
constexpr std::string_view knowledge_content = "knowledge";

bool is_knowledge(const Archive& archive);
/// Nothing of another archive; get_pool() has refused a later version. Throws FormatError that names the field.
std::optional<Knowledge> get_knowledge(const Archive& archive);

}  // namespace tenshot::trainer
