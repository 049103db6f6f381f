#include "trainer/pool_training.h"

#include <algorithm>

#include "nasbench/support/error.h"
#include "nasbench/support/text.h"
#include "trainer/help/help.h"
#include "trainer/peers/forest_predictor.h"
#include "trainer/peers/linear_peers.h"
#include "trainer/peers/transfer.h"
#include "trainer/structured/structured_model.h"

namespace tenshot::trainer {

std::unique_ptr<PoolModel> train_pool_model(const std::string& name, const datasets::Pool& pool,
                                            const MapleEdgeSettings& network, const TrainingControl& control) {
  if (name == "structured") return train_structured(pool, network.fit.seed, {}, network.descriptor);
  if (name == "maple-edge" || name == "maple") return train_maple_edge(pool, network, control);
  if (name == "help") {
    HelpSettings help;
    help.seed = network.fit.seed;
    return train_help(pool, help, control);
  }
  if (name == "transfer") return make_transfer(pool);
  if (name == "forest") return make_forest(pool);
  const std::vector<std::string> lines = linear_peer_names();
  if (std::find(lines.begin(), lines.end(), name) != lines.end()) return make_linear_peer(name, pool);
  throw InputError("there is no predictor '" + name + "'; there are: " + joined(predictor_names()));
}

}  // namespace tenshot::trainer
