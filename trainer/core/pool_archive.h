#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "datasets/pool/pool.h"
#include "trainer/core/archive.h"

namespace tenshot::trainer {

/// The pool in compact form, so that adapting and planning need nothing but the checkpoint: architectures as bytes,
/// latencies [device][architecture] as 64-bit floats (NaN where not measured), descriptors and names in the card.
/// 9 devices × 900 architectures take 70 KB.
void put_pool(Archive& archive, const datasets::Pool& pool);
/// The devices of a checkpoint of knowledge have no latencies (trainer/core/knowledge.h). Throws FormatError when the
/// arrays do not fit each other or the space.
datasets::Pool get_pool(const Archive& archive);

/// The beginning of a pool checkpoint's archive: what it is, for which predictor, the pool, the versions.
Archive checkpoint_archive(const datasets::Pool& pool, std::string_view predictor);

/// A hash of what a training on the pool depends on: what is said of it, the pool's content, LibTorch's version.
std::string training_fingerprint(const nlohmann::json& what, const datasets::Pool& pool);

/// The versions every card carries: of tenshot and LibTorch.
nlohmann::json version_card();

}  // namespace tenshot::trainer
