// What `operators` makes of device-runtimes that are held out by board, under settings of its kinds of devices. Usage:
// device_kinds --pool FOLDER… --runtime "ncnn, Vulkan" --cut FILE… --parts "0;1;2" [--new-networks N] [--operators]
//              [--draws N] [--set '{"kind_share": 0.3}' …]
// Prints a line for each runtime and setting: the runs, and the means of their shares within ±10 and ±20 %. Of the
// networks one in N is left out of the pool. With --operators, what operators take is learned where it was measured.
// With --draws, each device is planned for and measured so often, of a random half of its networks each time.
// Of the settings, "said" says what runs the networks on the new device, "planning_noise" is the σ that planning
// expects, "planning_tolerance" its tolerance, "random" draws instead of planning, "knowledge" keeps no residuals but
// common ones, as what ships does, and "similarity_length" is the library's.

#include <algorithm>
#include <cmath>
#define CXXOPTS_VECTOR_DELIMITER ';'
#include <cxxopts.hpp>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "datasets/pool/joined_pools.h"
#include "experiments/search/kind_options.h"
#include "experiments/shared/program.h"
#include "nasbench/support/files.h"
#include "nasbench/support/number_text.h"
#include "nasbench/support/random.h"
#include "sampling/architectures/information.h"
#include "trainer/predictors/operators/cost_planning.h"
#include "trainer/predictors/operators/cost_posterior.h"
#include "trainer/predictors/operators/pool_costs.h"

namespace {

using namespace tenshot;
using namespace tenshot::trainer::operators;
using Eigen::Index;
using experiments::kind_options;

constexpr std::size_t samples = 10;

struct Score {
  double within_10 = 0, within_20 = 0, runs = 0;
};

struct Setting {
  std::string text;
  bool said = false;               ///< what runs the networks on the new device
  double planning_noise = 0;       ///< 0: what the library expects
  double planning_tolerance = -1;  ///< below 0: the library's
  bool random = false;             ///< networks are drawn, not planned; needs draws
  bool knowledge = false;          ///< residuals as they ship
  PosteriorOptions posterior;
  LibraryOptions library;
  std::string of_library;  ///< settings with equal ones have the same library
};

/// A pool, its networks under the shared features, and the times of its operators, if they are asked for.
struct Numbered {
  FittedPool fitted;
  bool operators = false;
};

/// What a part of the pool knows: its devices' costs, and all networks under its features.
struct Known {
  CostLibrary library;
  std::vector<std::string> runtimes;  ///< [devices]
  Eigen::MatrixXd features;
};

/// The part of each board that is held out once; others are always in the pool.
using Cut = std::map<std::string, int>;

/// One in `one_in` of the networks that any of the devices measured; none where it is 0.
std::vector<bool> unseen_networks(const PoolNumbers& numbers, const std::vector<Index>& devices, int part,
                                  std::size_t one_in) {
  std::vector<Index> measured;
  for (Index n = 0; n < numbers.latency_ms.cols(); ++n) {
    if (std::any_of(devices.begin(), devices.end(), [&](Index d) { return std::isfinite(numbers.latency_ms(d, n)); })) {
      measured.push_back(n);
    }
  }
  Rng rng(11, static_cast<std::uint64_t>(part));
  rng.shuffle(measured);
  std::vector<bool> unseen(static_cast<std::size_t>(numbers.latency_ms.cols()), false);
  for (std::size_t i = 0; one_in > 0 && i < measured.size() / one_in; ++i)
    unseen[static_cast<std::size_t>(measured[i])] = true;
  return unseen;
}

/// Draw 0 offers all networks, every other `draw` a random half.
void score_device(const Known& known, const PoolNumbers& numbers, const std::vector<bool>& unseen, bool new_ones,
                  Index device, const Setting& setting, std::uint64_t draw, Score& score) {
  const Eigen::MatrixXd& latency_ms = numbers.latency_ms;
  const CostLibrary& library = known.library;
  std::vector<Index> candidates, others;
  for (Index n = 0; n < latency_ms.cols(); ++n) {
    if (!std::isfinite(latency_ms(device, n))) continue;
    (unseen[static_cast<std::size_t>(n)] ? others : candidates).push_back(n);
  }
  if (candidates.size() < samples + 2 || (new_ones && others.empty())) return;
  std::vector<std::size_t> offered(candidates.size());
  std::iota(offered.begin(), offered.end(), std::size_t{0});
  if (draw > 0) {
    Rng half(draw);
    half.shuffle(offered);
    offered.resize(std::max(offered.size() / 2, samples));
  }
  const trainer::PlanningView view = prior_view(library, known.features(candidates, Eigen::all), setting.posterior);
  sampling::InformationOptions planning = view.options;
  if (setting.planning_noise > 0) planning.noise = setting.planning_noise;
  if (setting.planning_tolerance >= 0) planning.tolerance = setting.planning_tolerance;
  Rng rng(1);
  std::vector<std::size_t> chosen(offered.begin(), offered.begin() + samples);
  if (!setting.random) chosen = sampling::choose_informative(view.covariance, offered, samples, rng, planning);
  AdaptationFeatures set;
  std::vector<Index> measured;
  for (const std::size_t c : chosen) {
    measured.push_back(candidates[c]);
    set.latency_ms.push_back(latency_ms(device, candidates[c]));
  }
  set.features = known.features(measured, Eigen::all);
  if (setting.said) {
    set.said.name = numbers.labels.kind[static_cast<std::size_t>(device)];
    for (const std::string& runtime : known.runtimes) set.said.of_entry.push_back(runtime == set.said.name);
  }
  if (!new_ones) {
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      if (std::find(chosen.begin(), chosen.end(), c) == chosen.end()) others.push_back(candidates[c]);
    }
  }
  const trainer::LogLatency found =
      predict(adapt(library, set, setting.posterior), table_of(known.features(others, Eigen::all)));
  const auto count = static_cast<double>(others.size());
  for (std::size_t i = 0; i < others.size(); ++i) {
    const double truth = std::log(latency_ms(device, others[i])), mean = found.mean[static_cast<Index>(i)];
    const double error = std::abs(std::expm1(mean - truth));
    score.within_10 += (error <= 0.1) / count;
    score.within_20 += (error <= 0.2) / count;
  }
  ++score.runs;
}

/// The devices of one part that run on one of the runtimes, by runtime, and the devices of the other parts.
struct Division {
  std::map<std::string, std::vector<Index>> targets;
  std::vector<Index> known;
};

Division divided(const PoolNumbers& numbers, const Cut& cut, int part, const std::vector<std::string>& runtimes) {
  Division division;
  for (Index d = 0; d < numbers.latency_ms.rows(); ++d) {
    const auto at = static_cast<std::size_t>(d);
    const std::string& runtime = numbers.labels.kind[at];
    const auto found = cut.find(numbers.labels.board[at]);
    if (found == cut.end() || found->second != part) {
      division.known.push_back(d);
    } else if (std::find(runtimes.begin(), runtimes.end(), runtime) != runtimes.end()) {
      division.targets[runtime].push_back(d);
    }
  }
  return division;
}

/// What the pool without what is held out knows.
Known known_without(const Numbered& pool, const nasbench::NetworkSpace& space, const std::vector<Index>& devices,
                    const std::vector<bool>& unseen, const Setting& setting) {
  const PoolNumbers& numbers = pool.fitted.numbers;
  std::vector<Index> networks, kept;
  for (Index n = 0; n < numbers.features.rows(); ++n) {
    if (!unseen[static_cast<std::size_t>(n)]) networks.push_back(n);
  }
  const std::vector<Index> measuring = devices_with(numbers, networks);
  std::set_intersection(measuring.begin(), measuring.end(), devices.begin(), devices.end(), std::back_inserter(kept));
  Known known{fit_library(selection_of(numbers, networks, kept), setting.library), {}, numbers.features};
  for (const Index d : kept) known.runtimes.push_back(numbers.labels.kind[static_cast<std::size_t>(d)]);
  if (pool.operators) {
    const FeatureMap map = pool.fitted.learn(networks, known.library, kept);
    known.features = feature_table(map, space, pool.fitted.networks).rows();
  }
  if (setting.knowledge) keep_common_residuals(known.library);
  return known;
}

Setting setting_of(const std::string& text) {
  auto json = nlohmann::json::parse(text);
  Setting setting;
  const auto take = [&json](const char* name, auto& value) {
    value = json.value(name, value);
    json.erase(name);
  };
  take("said", setting.said);
  take("planning_noise", setting.planning_noise);
  take("planning_tolerance", setting.planning_tolerance);
  take("random", setting.random);
  take("knowledge", setting.knowledge);
  take("similarity_length", setting.library.places.length);
  setting.text = text;
  setting.posterior = declared(PosteriorOptions()).read(json);
  setting.library.kinds = kind_options.read(json);
  if (json.contains("groups")) {
    nlohmann::json groups = kind_options.to_json(group_options());
    groups.update(json["groups"]);
    setting.library.groups = kind_options.read(groups);
  }
  setting.of_library = kind_options.to_json(setting.library.kinds).dump() +
                       kind_options.to_json(setting.library.groups).dump() +
                       std::to_string(setting.library.places.length) + (setting.knowledge ? "knowledge" : "");
  return setting;
}

/// Adds what the devices score under each of the settings.
void score_devices(const Numbered& pool, const nasbench::NetworkSpace& space, const std::vector<Index>& others,
                   const std::vector<Index>& devices, const std::vector<bool>& unseen, bool new_ones,
                   const std::vector<Setting>& settings, std::uint64_t draws, std::vector<Score>& scores) {
  std::map<std::string, Known> known;
  for (std::size_t s = 0; s < settings.size(); ++s) {
    const Setting& setting = settings[s];
    auto found = known.find(setting.of_library);
    if (found == known.end()) {
      Known fitted = known_without(pool, space, others, unseen, setting);
      found = known.emplace(setting.of_library, std::move(fitted)).first;
    }
    for (const Index d : devices) {
      for (std::uint64_t draw = std::min<std::uint64_t>(draws, 1); draw <= draws; ++draw) {
        score_device(found->second, pool.fitted.numbers, unseen, new_ones, d, setting, draw, scores[s]);
      }
    }
  }
}

cxxopts::Options options_of_program() {
  cxxopts::Options options("device_kinds");
  auto add = options.add_options();
  add("pool", "", cxxopts::value<std::vector<std::string>>());
  add("runtime", "", cxxopts::value<std::vector<std::string>>());
  add("cut", "", cxxopts::value<std::vector<std::string>>());
  add("parts", "", cxxopts::value<std::vector<int>>());
  add("new-networks", "", cxxopts::value<std::size_t>()->default_value("0"));
  add("operators", "");
  add("draws", "", cxxopts::value<std::uint64_t>()->default_value("0"));
  add("set", "", cxxopts::value<std::vector<std::string>>()->default_value("{}"));
  return options;
}

/// The pool with nothing learned of it.
Numbered numbered(const datasets::Pool& pool, bool operators) {
  const std::vector<nasbench::Architecture> networks = datasets::latency_matrix(pool).architectures;
  FittedPool fitted{networks, OperatorMeasurements(pool, networks), make_feature_map(*pool.space, networks), {}, {}};
  fitted.numbers = numbers_of(fitted.map, pool);
  return {std::move(fitted), operators};
}

void print(const std::map<std::string, std::vector<Score>>& scores, const std::vector<Setting>& settings,
           bool new_ones) {
  for (std::size_t s = 0; s < settings.size(); ++s) {
    for (const auto& [runtime, of_settings] : scores) {
      const Score& score = of_settings[s];
      const auto mean = [runs = score.runs](double sum) { return decimals(100 * sum / runs, 1); };
      std::cout << "| " << runtime << (new_ones ? ", new networks" : "") << " | `" << settings[s].text << "` | "
                << score.runs << " | " << mean(score.within_10) << " / " << mean(score.within_20) << " |\n";
    }
  }
}

void run(int argc, char** argv) {
  const auto given = options_of_program().parse(argc, argv);
  std::vector<std::filesystem::path> folders;
  for (const std::string& folder : given["pool"].as<std::vector<std::string>>()) folders.emplace_back(folder);
  const datasets::Pool pool = datasets::read_pools(folders);
  const Numbered all = numbered(pool, given.count("operators") > 0);
  const PoolNumbers& numbers = all.fitted.numbers;
  const auto one_in = given["new-networks"].as<std::size_t>();
  std::vector<Setting> settings;
  for (const std::string& text : given["set"].as<std::vector<std::string>>()) settings.push_back(setting_of(text));
  std::map<std::string, std::vector<Score>> scores;  // [runtime][setting]
  for (const std::string& file : given["cut"].as<std::vector<std::string>>()) {
    const auto cut = nlohmann::json::parse(read_file(file)).get<Cut>();
    for (const int part : given["parts"].as<std::vector<int>>()) {
      const Division division = divided(numbers, cut, part, given["runtime"].as<std::vector<std::string>>());
      for (const auto& [runtime, devices] : division.targets) {
        scores[runtime].resize(settings.size());
        const std::vector<bool> unseen = unseen_networks(numbers, devices, part, one_in);
        score_devices(all, *pool.space, division.known, devices, unseen, one_in > 0, settings,
                      given["draws"].as<std::uint64_t>(), scores[runtime]);
      }
    }
  }
  print(scores, settings, one_in > 0);
}

}  // namespace

int main(int argc, char** argv) { return tenshot::experiments::run_program("device_kinds", run, argc, argv); }
