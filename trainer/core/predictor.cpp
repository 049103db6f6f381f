#include "trainer/core/predictor.h"

#include <array>

#include "nasbench/support/error.h"
#include "nasbench/support/text.h"
#include "trainer/core/part_vocabulary.h"
#include "trainer/core/quantity_card.h"

namespace tenshot::trainer {
namespace {

[[noreturn]] void refuse(std::string_view kind, const std::string& what) {
  throw InputError("a checkpoint of '" + std::string(kind) + "' " + what +
                   "; take one of structured (NAS-Bench-201) or operators (any other space)");
}

}  // namespace

datasets::Quantity Predictor::quantity() const { return get_quantity(card_); }

Archive Predictor::to_archive() const {
  Archive archive;
  archive.card = card_;
  put_weights(archive);
  return archive;
}

nlohmann::json Predictor::to_document() const {
  nlohmann::json document = numbers();
  document["format"] = "tenshot.predictor/1";
  document["card"] = card_;
  if (const SearchSpace* decided = space().search_space()) document["strings"] = strings_document(*decided);
  return document_of(quantity(), std::move(document));
}

const std::string& PoolModel::pool_sha256() const {
  std::call_once(hashed_, [&] { pool_sha256_ = knowledge_ ? knowledge_->pool_sha256 : datasets::content_hash(pool_); });
  return pool_sha256_;
}

std::vector<std::vector<double>> PoolModel::predict_pool(const std::vector<Architecture>& architectures) const {
  std::vector<double> expected;
  for (const Architecture& a : architectures) {
    expected.push_back(static_cast<double>(pool_.space->flop_count(a, pool_.space->default_shape())) * 1e-6);
  }
  return std::vector<std::vector<double>>(pool_.devices.size(), expected);
}

OwnFits PoolModel::own_fits() const { refuse(kind(), "has no costs of its devices to predict left-out networks by"); }

std::unique_ptr<PoolModel> PoolModel::without_rows(std::vector<KnowledgeSource> /*sources*/) const {
  refuse(kind(), "answers from the rows of its pool and cannot do without them");
}

std::unique_ptr<PoolModel> PoolModel::grown_by(const datasets::Pool& /*pool*/,
                                               std::vector<KnowledgeSource> /*sources*/) const {
  throw InputError("a checkpoint of '" + std::string(kind()) + "' does not grow; take one of operators");
}

std::unique_ptr<Predictor> PoolModel::known_device(const std::string& /*id*/) const {
  refuse(kind(), "predicts no device without measurements of it");
}

std::string_view name(DescriptorKind kind) {
  constexpr std::array<std::string_view, 4> names = {"inferred", "latency", "in-network", "counters"};
  return names[static_cast<std::size_t>(kind)];
}

DescriptorKind descriptor_kind(std::string_view text, const std::vector<DescriptorKind>& possible) {
  std::vector<std::string> names;
  for (const DescriptorKind kind : possible) {
    if (name(kind) == text) return kind;
    names.emplace_back(name(kind));
  }
  throw InputError("there is no descriptor kind '" + excerpt(text) + "'; there are: " + joined(names));
}

}  // namespace tenshot::trainer
