#include "trainer/core/predictor.h"

#include "nasbench/support/error.h"
#include "trainer/core/knowledge.h"
#include "trainer/core/planning_prior.h"

namespace tenshot::trainer {
namespace {

[[noreturn]] void refuse(std::string_view kind, const std::string& what) {
  throw InputError("a checkpoint of '" + std::string(kind) + "' " + what +
                   "; take one of structured (NAS-Bench-201) or operators (any other space)");
}

}  // namespace

std::optional<PlanningView> Predictor::uncertainty(const std::vector<Architecture>& /*candidates*/) const {
  return std::nullopt;
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

}  // namespace tenshot::trainer
