#include "datasets/kit/kit_profiles.h"

#include <array>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "datasets/kit/board_results.h"
#include "datasets/kit/kit_manifest.h"
#include "datasets/kit/profile_matching.h"
#include "descriptor/timing/timing.h"
#include "nasbench/formats/network_file.h"
#include "nasbench/graph/onnx_reader.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/median.h"
#include "nasbench/support/number_text.h"

namespace tenshot::datasets {
namespace {

namespace fs = std::filesystem;

/// What a model's file calls its operators. Of other formats than ONNX the network's own names are the file's.
std::unordered_map<std::string, int> nodes_by_name(const fs::path& model, const nasbench::Network& network) {
  if (model.extension() == ".onnx") return nasbench::operators_by_name(model, network);
  std::unordered_map<std::string, int> nodes;
  for (std::size_t i = 0; i < network.nodes.size(); ++i) nodes.emplace(network.nodes[i].name, static_cast<int>(i));
  return nodes;
}

/// What a profile says of a network, and the shares by which profiles of one device are compared.
struct NetworkProfile {
  std::string file;
  double latency_ms;  ///< as it was measured
  std::vector<KernelRow> rows;
  MatchedProfile matched;
  std::array<double, 3> shares;  ///< as `compared` names them
};

constexpr std::array<const char*, 3> compared = {"its layers that are operators of its network",
                                                 "its network's multiply-adds that its layers name",
                                                 "the measured latency that its layers add up to"};

NetworkProfile read_profile(const fs::path& model, const fs::path& profile, const std::string& name,
                            double latency_ms) {
  const std::vector<LayerTime> layers = layer_times(read_file(profile), profile.string());
  const nasbench::Network network = nasbench::read_network_file(model);
  MatchedProfile matched = match_profile(layers, network, nodes_by_name(model, network));
  if (matched.matched == 0) {
    throw FormatError(profile.string() + ": none of its " + std::to_string(layers.size()) +
                      " layers is an operator of '" + name + "'; is it of another network, or a whole delegate's?");
  }
  double products = 0, named = 0;
  for (std::size_t i = 0; i < network.nodes.size(); ++i) {
    const auto own = static_cast<double>(nasbench::multiply_adds(network.nodes[i].operation));
    products += own;
    named += matched.node_ms[i] ? own : 0;
  }
  const double known = static_cast<double>(matched.matched) / static_cast<double>(matched.layers),
               product_share = products > 0 ? named / products : 1, sum = matched.ms / latency_ms;
  std::vector<KernelRow> rows = operator_rows(matched, network, name);
  return {profile.string(), latency_ms, std::move(rows), std::move(matched), {known, product_share, sum}};
}

/// Why a profile is not used; nothing where its layers may add up to its latency and it agrees with the others, or
/// these are fewer than three, of which none can be told from the others. Where latencies differ more, so does a
/// runtime's share of them.
std::optional<std::string> contradiction(const std::vector<NetworkProfile>& all, const NetworkProfile& one) {
  constexpr double farthest = 100;
  const double sum = one.shares.back();
  if (sum > farthest || sum < 1 / farthest)
    return one.file + ": its layers add up to " + significant_digits(sum, 3) +
           " times its network's measured latency; is one of them in another unit?";
  constexpr double least = 1e-3, deviations = 4 / 0.6745;  // of a normal error, of which the median is known
  std::vector<double> latencies;
  for (const NetworkProfile& profile : all) latencies.push_back(std::log(profile.latency_ms));
  const double spread = descriptor::summarise(latencies).stddev_ms;
  for (std::size_t i = 0; all.size() > 2 && i < compared.size(); ++i) {
    std::vector<double> logs;
    for (const NetworkProfile& profile : all) logs.push_back(std::log(std::max(profile.shares[i], least)));
    const double typical = median(logs), own = std::log(std::max(one.shares[i], least)) - typical;
    for (double& share : logs) share = std::abs(share - typical);
    const double tolerated =
        std::max(deviations * median(logs), std::clamp(i < 2 ? 0 : spread, std::log(2), std::log(3)));
    if (own >= -tolerated && (own <= tolerated || i < 2)) continue;
    return one.file + ": the share of " + compared[i] + " is " + whole_percent(one.shares[i]) + ", and " +
           whole_percent(std::exp(typical)) + " in the other profiles; is it of another network?";
  }
  return std::nullopt;
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
  std::vector<NetworkProfile> read;
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
    const fs::path profile = results / (is_file(results / "profile.json") ? "profile.json" : "profile.txt");
    if (!is_file(profile) || (measured != model.sha256 && measured != model.converted_sha256)) continue;
    try {
      read.push_back(read_profile(folder / model_file(model), profile, name, median(read_times(results, meta))));
    } catch (const Error& error) {
      profiles.problems.emplace_back(error.what());
    }
  }
  for (const NetworkProfile& profile : read) {
    const std::optional<std::string> problem = contradiction(read, profile);
    if (problem) profiles.problems.push_back(*problem);
    if (problem) continue;
    ++profiles.networks;
    profiles.layers += profile.matched.layers;
    profiles.matched += profile.matched.matched;
    profiles.ms += profile.matched.ms;
    profiles.matched_ms += profile.matched.matched_ms;
    profiles.rows.insert(profiles.rows.end(), profile.rows.begin(), profile.rows.end());
  }
  return profiles;
}

}  // namespace tenshot::datasets
