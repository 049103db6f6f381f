#include "trainer/predictor.h"

#include <algorithm>

#include "nasbench/support/error.h"
#include "trainer/feed_forward_predictor.h"
#include "trainer/help/help.h"
#include "trainer/maple_edge/maple_edge.h"
#include "trainer/peers/forest_predictor.h"
#include "trainer/peers/linear_peers.h"
#include "trainer/peers/transfer.h"
#include "trainer/structured/structured_model.h"

namespace tenshot::trainer {
namespace {

/// Runs `load` so that whatever is wrong with a card that passed its checksum names the file.
template <class Load>
auto loaded(const std::filesystem::path& path, const std::string& content, const char* made_by, Load load) {
  const Archive archive = load_archive(path);
  try {
    const std::string found = archive.card.at("content");
    if (found != content) {
      throw FormatError("this is a " + found + ", expected a " + content + " (made by `" + made_by + "`)");
    }
    return load(archive, archive.card.at("predictor").get<std::string>());
  } catch (const nlohmann::json::exception& error) {
    throw FormatError(path.string() + ": its card lacks something (" + error.what() + ")");
  } catch (const Error& error) {
    throw FormatError(path.string() + ": " + error.what());
  }
}

bool is_linear_peer(const std::string& kind) {
  const std::vector<std::string> names = linear_peer_names();
  return std::find(names.begin(), names.end(), kind) != names.end();
}

}  // namespace

std::vector<std::string> predictor_names() {
  std::vector<std::string> names = {"structured", "maple-edge", "maple", "help", "transfer", "forest"};
  const std::vector<std::string> lines = linear_peer_names();
  names.insert(names.end(), lines.begin(), lines.end());
  return names;
}

std::unique_ptr<PoolModel> load_pool_model(const std::filesystem::path& path) {
  return loaded(path, "pool checkpoint", "tenshot train",
                [](const Archive& archive, const std::string& kind) -> std::unique_ptr<PoolModel> {
                  if (kind == "maple-edge" || kind == "maple") return load_maple_edge(archive);
                  if (kind == "structured") return load_structured(archive);
                  if (kind == "help") return load_help(archive);
                  if (kind == "transfer") return load_transfer(archive);
                  if (kind == "forest") return load_forest(archive);
                  if (is_linear_peer(kind)) return load_linear_peer(archive);
                  throw FormatError("predictor '" + kind + "' is not known to this tenshot; use a newer one");
                });
}

std::unique_ptr<Predictor> load_predictor(const std::filesystem::path& path) {
  return loaded(path, "predictor", "tenshot adapt",
                [](const Archive& archive, const std::string& kind) -> std::unique_ptr<Predictor> {
                  if (kind == "maple-edge" || kind == "maple" || kind == "help" || is_linear_peer(kind)) {
                    return std::make_unique<FeedForwardPredictor>(archive);
                  }
                  if (kind == "structured" || kind == "transfer") return load_structured_predictor(archive);
                  if (kind == "forest") return load_forest_predictor(archive);
                  throw FormatError("predictor '" + kind + "' is not known to this tenshot; use a newer one");
                });
}

}  // namespace tenshot::trainer
