#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "datasets/pool/pool.h"
#include "trainer/core/archive.h"
#include "trainer/core/knowledge.h"
#include "trainer/core/predictor.h"

namespace tenshot::trainer {

/// The devices of a checkpoint of knowledge are as they were written and have no latencies (trainer/core/knowledge.h).
/// Throws FormatError when the arrays do not fit each other or the space.
datasets::Pool get_pool(const Archive& archive);

/// The beginning of a pool checkpoint's archive: what it is, for which predictor, the versions, and the pool in compact
/// form, so that adapting and planning need nothing but the checkpoint: architectures as bytes, latencies
/// [device][architecture] as 64-bit floats (NaN where not measured), descriptors and names in the card. 9 devices × 900
/// architectures take 70 KB.
Archive checkpoint_archive(const datasets::Pool& pool, std::string_view predictor);

/// A hash of what a training on the pool depends on: what is said of it, the pool's content, LibTorch's version.
std::string training_fingerprint(const nlohmann::json& what, const datasets::Pool& pool);

/// The versions every card carries: of tenshot and LibTorch.
nlohmann::json version_card();

/// The content of a checkpoint of knowledge: what older programs name where they refuse it.
constexpr std::string_view knowledge_content = "knowledge";

/// The beginning of the archive of a checkpoint of knowledge, whose version is its own. `identities` are those of
/// identities_of().
Archive knowledge_archive(const datasets::Pool& identities, const Knowledge& knowledge, std::string_view predictor);

/// True for an archive of knowledge.
bool is_knowledge(const Archive& archive);
/// Nothing of an archive that is none of knowledge. Throws FormatError that names the field, and on a later version
/// that says so.
std::optional<Knowledge> get_knowledge(const Archive& archive);

/// A model that has a pool, and its knowledge where that has no rows. What its kind learned it adds to the archive.
class ModelOfPool : public PoolModel {
 public:
  ModelOfPool(datasets::Pool pool, std::string_view kind, std::optional<Knowledge> knowledge = std::nullopt)
      : pool_(std::move(pool)), knowledge_(std::move(knowledge)), kind_(kind) {}

  std::string_view kind() const override { return kind_; }
  const datasets::Pool& pool() const override { return pool_; }
  const Knowledge* knowledge() const override { return knowledge_ ? &*knowledge_ : nullptr; }
  Archive to_archive() const override {
    return knowledge_ ? knowledge_archive(pool_, *knowledge_, kind_) : checkpoint_archive(pool_, kind_);
  }
  /// The multiply–adds of each, in millions, on every device.
  std::vector<std::vector<double>> predict_pool(const std::vector<Architecture>& architectures) const override {
    std::vector<double> expected;
    for (const Architecture& a : architectures) {
      expected.push_back(static_cast<double>(pool_.space->flop_count(a, pool_.space->default_shape())) * 1e-6);
    }
    return std::vector<std::vector<double>>(pool_.devices.size(), expected);
  }

 protected:
  datasets::Pool pool_;
  std::optional<Knowledge> knowledge_;

 private:
  std::string kind_;
};

}  // namespace tenshot::trainer
