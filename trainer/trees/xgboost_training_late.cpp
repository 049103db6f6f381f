#include "nasbench/support/late_library.h"
#include "trainer/trees/tree_ensemble.h"

namespace tenshot::trainer {

bool has_xgboost() { return TENSHOT_HAS_XGBOOST; }

TreeEnsemble train_trees(const std::vector<float>& features, std::size_t width, const std::vector<double>& targets,
                         const std::vector<double>& weights, const TreeOptions& options) {
  return from_engines_library("train_trees", train_trees)(features, width, targets, weights, options);
}

}  // namespace tenshot::trainer
