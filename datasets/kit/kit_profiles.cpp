#include "datasets/kit/kit_profiles.h"

#include <cmath>
#include <optional>
#include <unordered_map>

#include "datasets/kit/board_results.h"
#include "datasets/kit/kit_manifest.h"
#include "datasets/kit/profile_matching.h"
#include "nasbench/formats/network_file.h"
#include "nasbench/graph/onnx_reader.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/number_text.h"

namespace tenshot::datasets {
namespace {

namespace fs = std::filesystem;

std::optional<fs::path> profile_in(const fs::path& results) {
  for (const char* name : {"profile.json", "profile.txt"}) {
    if (is_file(results / name)) return results / name;
  }
  return std::nullopt;
}

/// What a model's file calls its operators. Of other formats than ONNX the network's own names are the file's.
std::unordered_map<std::string, int> nodes_by_name(const fs::path& model, const nasbench::Network& network) {
  if (model.extension() == ".onnx") return nasbench::operators_by_name(model, network);
  std::unordered_map<std::string, int> nodes;
  for (std::size_t i = 0; i < network.nodes.size(); ++i) nodes.emplace(network.nodes[i].name, static_cast<int>(i));
  return nodes;
}

void add(KitProfiles& profiles, const fs::path& model, const fs::path& profile, const std::string& name) {
  const std::vector<LayerTime> layers = layer_times(read_file(profile), profile.string());
  const nasbench::Network network = nasbench::read_network_file(model);
  const MatchedProfile matched = match_profile(layers, network, nodes_by_name(model, network));
  if (matched.matched == 0) {
    throw FormatError(profile.string() + ": none of its " + std::to_string(layers.size()) +
                      " layers is an operator of '" + name + "'; is it of another network, or a whole delegate's?");
  }
  ++profiles.networks;
  profiles.layers += matched.layers;
  profiles.matched += matched.matched;
  profiles.ms += matched.ms;
  profiles.matched_ms += matched.matched_ms;
  for (KernelRow& row : operator_rows(matched, network, name)) profiles.rows.push_back(std::move(row));
}

}  // namespace

std::string KitProfiles::summary() const {
  std::string text = std::to_string(matched) + " of " + std::to_string(layers) + " layers of " +
                     counted(networks, "network") + " are known operators";
  if (ms > 0) text += ", " + std::to_string(std::lround(100 * matched_ms / ms)) + " % of the time";
  if (matched < layers) text += "; " + std::to_string(layers - matched) + " are not: copies, or of other names";
  return text;
}

KitProfiles read_kit_profiles(const fs::path& folder) {
  const KitManifest manifest = read_kit_manifest(folder);
  KitProfiles profiles;
  for (const KitModel& model : manifest.models) {
    if (!model.is_architecture()) continue;
    const fs::path results = folder / "results" / model.id;
    const KitNotes meta = read_notes(results / "meta.txt");
    const std::string name = manifest.space->format(model.architecture);
    if (note(meta, "profile") == "failed") {
      profiles.problems.push_back(model.id + " (" + name + "): its profile failed; results/" + model.id +
                                  "/log.txt says why");
    }
    const std::string measured = note(meta, "sha256");
    const std::optional<fs::path> profile = profile_in(results);
    if (!profile || (measured != model.sha256 && measured != model.converted_sha256)) continue;
    try {
      add(profiles, folder / model_file(model), *profile, name);
    } catch (const Error& error) {
      profiles.problems.emplace_back(error.what());
    }
  }
  return profiles;
}

}  // namespace tenshot::datasets
