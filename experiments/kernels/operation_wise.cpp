// Operation-wise prediction (Li et al., 2024, §4) on the phones of Li, Paolieri and Golubchik (EdgeSys 2024): GPUs from
// the profiles of their operators, with and without the kernels that the delegate selects; CPUs, whose operators the
// table does not time, from the latencies of whole networks. Usage: operation_wise --tables mobile-cnn --out FOLDER
// [--learners lasso,small-boosted] [--splits 5]. A run that was stopped goes on where it was.

#include <algorithm>
#include <cmath>
#include <cxxopts.hpp>
#include <filesystem>
#include <iostream>
#include <map>
#include <numeric>
#include <optional>
#include <sstream>
#include <tuple>

#include "datasets/tables/csv.h"
#include "experiments/kernels/profiles.h"
#include "nasbench/kernels/fusion_rules.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/random.h"
#include "trainer/core/metrics.h"
#include "trainer/predictors/kernels/kernel_model.h"
#include "trainer/predictors/kernels/lasso.h"
#include "trainer/predictors/kernels/learners.h"

namespace {

using namespace tenshot;
using experiments::ProfiledNetwork;
using nasbench::OperatorSpecification;
using trainer::kernels::KernelModel;
using trainer::kernels::LearnerKind;

constexpr std::size_t training_sizes[] = {30, 51}, tested = 51;

struct Settings {
  std::filesystem::path tables, out;
  std::vector<LearnerKind> learners;
  int splits = 5;
};

/// Latencies of whole networks: [setting][network].
using Latencies = std::map<std::string, std::map<std::string, double>>;

Latencies read_latencies(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  datasets::CsvReader csv(text, path.string());
  const std::size_t name = csv.require("network", "network");
  Latencies latencies;
  while (csv.next()) {
    for (std::size_t i = 0; i < csv.header().size() && i < csv.fields().size(); ++i) {
      const auto value = i == name ? std::nullopt : parse_number(csv.fields()[i]);
      if (value) latencies[csv.header()[i]][std::string(csv.fields()[name])] = *value;
    }
  }
  return latencies;
}

/// One row of results.csv.
struct Row {
  std::string setting, learner, kernels;
  std::size_t networks = 0;
  int split = 0;
  double operators_mape = std::nan(""), winograd_mape = std::nan(""), mape = 0, acc10 = 0;
};

/// The networks in the order of one split: the last `tested` are predicted, the first of the others learnt from.
std::vector<std::size_t> order_of(std::size_t count, int split) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Rng rng(static_cast<std::uint64_t>(split) + 1);
  rng.shuffle(order);
  return order;
}

/// As the tables call a learner.
std::string label(LearnerKind learner) {
  if (learner == LearnerKind::small_forest) return "forest";
  return learner == LearnerKind::small_boosted ? "boosting" : std::string(name(learner));
}

/// What operators share a learner with: their kind, or the kernel that the delegate takes.
std::string category_of(const OperatorSpecification& op, bool deduced, const std::string& setting) {
  const std::string kind = trainer::kernels::operation_category(op);
  if (!deduced || op.kind != nasbench::OperatorKind::convolution) return kind;
  const bool adreno = setting == "pixel4_gpu" || setting == "mi8se_gpu";
  static const nasbench::FusionRules rules[] = {nasbench::fusion_rules("tflite-gpu-mali"),
                                                nasbench::fusion_rules("tflite-gpu-adreno6xx")};
  return "conv:" + chosen_kernel(rules[adreno ? 1 : 0].kernels, op, kind);
}

struct MeanError {
  double sum = 0;
  int count = 0;
  void add(double predicted, double truth) {
    sum += std::abs(predicted / truth - 1);
    ++count;
  }
  double mean() const { return count == 0 ? std::nan("") : sum / count; }
};

Row predict_gpu(const experiments::ProfiledNetworks& table, std::size_t setting,
                const std::map<std::string, double>& latency_ms, LearnerKind learner, bool deduced,
                std::size_t networks, int split) {
  const std::vector<std::size_t> order = order_of(table.networks.size(), split);
  const auto kernel_of = [&](const OperatorSpecification& op) {
    return trainer::kernels::NetworkKernel{category_of(op, deduced, table.settings[setting]), op};
  };
  std::vector<trainer::kernels::KernelSample> samples;
  double overhead_ms = 0;
  for (std::size_t i = 0; i < networks; ++i) {
    const ProfiledNetwork& network = table.networks[order[i]];
    overhead_ms += latency_ms.at(network.name) / static_cast<double>(networks);
    for (std::size_t k = 0; k < network.operators.size(); ++k) {
      const double operator_ms = network.profiles[k][setting].latency_ms;
      samples.push_back({kernel_of(network.operators[k]).kernel, network.operators[k], operator_ms});
      overhead_ms -= operator_ms / static_cast<double>(networks);
    }
  }
  const KernelModel model(samples, overhead_ms, static_cast<std::uint64_t>(split) + 1, learner);
  MeanError operators, winograd;
  std::vector<double> predicted, measured;
  for (std::size_t i = order.size() - tested; i < order.size(); ++i) {
    const ProfiledNetwork& network = table.networks[order[i]];
    double sum_ms = overhead_ms;
    for (std::size_t k = 0; k < network.operators.size(); ++k) {
      const experiments::Profile& profile = network.profiles[k][setting];
      const double operator_ms = model.kernel(kernel_of(network.operators[k])).latency_ms;
      sum_ms += operator_ms;
      operators.add(operator_ms, profile.latency_ms);
      if (profile.kernel.find("winograd") != std::string::npos) winograd.add(operator_ms, profile.latency_ms);
    }
    predicted.push_back(sum_ms);
    measured.push_back(latency_ms.at(network.name));
  }
  const trainer::Metrics metrics = trainer::evaluate({predicted, {}, {}}, measured);
  return {table.settings[setting],
          label(learner),
          deduced ? "deduced" : "operations",
          networks,
          split,
          operators.mean(),
          winograd.mean(),
          metrics.mape,
          metrics.acc10};
}

/// For each category the number of its operators and the sums of their features: what a whole network's latency is
/// linear in where every operator's is.
Eigen::MatrixXd sums_of_features(const experiments::ProfiledNetworks& table) {
  std::map<std::string, Eigen::Index> columns;
  Eigen::Index width = 0;
  for (const ProfiledNetwork& network : table.networks) {
    for (const OperatorSpecification& op : network.operators) {
      const std::string category = trainer::kernels::operation_category(op);
      if (!columns.emplace(category, width).second) continue;
      width += 1 + static_cast<Eigen::Index>(trainer::kernels::feature_names(category).size());
    }
  }
  const auto count = static_cast<Eigen::Index>(table.networks.size());
  Eigen::MatrixXd sums = Eigen::MatrixXd::Zero(count, width);
  for (Eigen::Index n = 0; n < count; ++n) {
    for (const OperatorSpecification& op : table.networks[static_cast<std::size_t>(n)].operators) {
      Eigen::Index column = columns.at(trainer::kernels::operation_category(op));
      sums(n, column) += 1;
      for (const double feature : trainer::kernels::operation_features(op)) sums(n, ++column) += feature;
    }
  }
  return sums;
}

Row predict_cpu(const experiments::ProfiledNetworks& table, const Eigen::MatrixXd& sums, const std::string& setting,
                const std::map<std::string, double>& latency_ms, std::size_t networks, int split) {
  const std::vector<std::size_t> order = order_of(table.networks.size(), split);
  Eigen::MatrixXd features(static_cast<Eigen::Index>(networks), sums.cols());
  Eigen::VectorXd latency(static_cast<Eigen::Index>(networks));
  for (std::size_t i = 0; i < networks; ++i) {
    features.row(static_cast<Eigen::Index>(i)) = sums.row(static_cast<Eigen::Index>(order[i]));
    latency[static_cast<Eigen::Index>(i)] = latency_ms.at(table.networks[order[i]].name);
  }
  const trainer::kernels::Lasso lasso = trainer::kernels::fit_lasso(features, latency);
  std::vector<double> predicted, measured;
  for (std::size_t i = order.size() - tested; i < order.size(); ++i) {
    const double line = lasso.predict(sums.row(static_cast<Eigen::Index>(order[i])));
    predicted.push_back(std::max(line, latency.minCoeff()));
    measured.push_back(latency_ms.at(table.networks[order[i]].name));
  }
  const trainer::Metrics metrics = trainer::evaluate({predicted, {}, {}}, measured);
  return {setting, "lasso", "whole networks", networks, split, std::nan(""), std::nan(""), metrics.mape, metrics.acc10};
}

/// "CPU, one core, float32" and so on: what a row of the summary is a mean over.
std::string group_of(const std::string& setting) {
  if (setting.find("_gpu") != std::string::npos) return setting;
  const bool quantised = setting.find("_quant") != std::string::npos;
  const std::string cores = setting.substr(setting.find('_') + 1);
  const bool mixed = std::count_if(cores.begin(), cores.end(), [](char c) { return c >= '0' && c <= '9'; }) > 1;
  const bool one = !mixed && cores[0] == '1';
  const std::string count = one ? "one core" : mixed ? "cores of two kinds" : "several cores of a kind";
  return "CPU, " + count + ", " + (quantised ? "int8" : "float32");
}

std::string csv_of(const std::vector<Row>& rows) {
  std::ostringstream csv;
  csv << "setting,learner,kernels,networks,split,operators_mape,winograd_mape,mape,acc10\n";
  const auto cell = [](double value) { return std::isnan(value) ? std::string() : shortest(value); };
  for (const Row& row : rows) {
    csv << row.setting << "," << row.learner << "," << row.kernels << "," << row.networks << "," << row.split << ","
        << cell(row.operators_mape) << "," << cell(row.winograd_mape) << "," << cell(row.mape) << "," << cell(row.acc10)
        << "\n";
  }
  return csv.str();
}

/// "12.3 ± 1.2": percent, over splits (and settings of a group); empty where there is none.
std::string spread(const std::vector<double>& values) {
  std::vector<double> known;
  std::copy_if(values.begin(), values.end(), std::back_inserter(known), [](double v) { return !std::isnan(v); });
  if (known.empty()) return "–";
  const double mean = std::accumulate(known.begin(), known.end(), 0.0) / static_cast<double>(known.size());
  double squares = 0;
  for (const double value : known) squares += std::pow(value - mean, 2);
  const double deviation = known.size() > 1 ? std::sqrt(squares / static_cast<double>(known.size() - 1)) : 0;
  std::ostringstream text;
  text.precision(1);
  text << std::fixed << 100 * mean << " ± " << 100 * deviation;
  return text.str();
}

std::string page_of(const std::vector<Row>& rows, int splits) {
  using Key = std::tuple<std::string, std::size_t, std::string, std::string>;
  std::map<Key, std::vector<const Row*>> groups;
  for (const Row& row : rows) groups[{group_of(row.setting), row.networks, row.learner, row.kernels}].push_back(&row);
  std::ostringstream page;
  page << "# Operation-wise prediction\n\n"
          "`operation_wise --tables $TENSHOT_TABLES/mobile-cnn --out experiments/kernels/operation_wise`: latency as "
          "an overhead and the sum of the operators' (Li, Paolieri and Golubchik, Performance Evaluation 165, 2024, "
          "§4), on the 102 published CNNs of four phones (the same authors, EdgeSys 2024). The learners see the "
          "operators of 30 or 51 networks and predict 51 others; "
          "random splits: "
       << splits
       << ". *deduced*: one learner for each kernel that Algorithm B.3 selects; *operations*: one for "
          "each kind of operation. The table times operators on GPUs only: on CPUs a Lasso (Eq. 1) through the sums "
          "of the features learns from whole latencies. Errors are means of |predicted − measured| / measured in "
          "percent, ± the standard deviation over splits and settings. [results.csv](results.csv) has every row.\n\n"
          "| setting | networks | learner | kernels | operators, % | Winograd operators, % | networks, % | within "
          "±10 % |\n|---|---|---|---|---|---|---|---|\n";
  for (const auto& [key, members] : groups) {
    std::vector<double> operators, winograd, mape, acc10;
    for (const Row* row : members) {
      operators.push_back(row->operators_mape);
      winograd.push_back(row->winograd_mape);
      mape.push_back(row->mape);
      acc10.push_back(row->acc10);
    }
    page << "| " << std::get<0>(key) << " | " << std::get<1>(key) << " | " << std::get<2>(key) << " | "
         << std::get<3>(key) << " | " << spread(operators) << " | " << spread(winograd) << " | " << spread(mape)
         << " | " << spread(acc10) << " |\n";
  }
  return page.str();
}

/// The rows of an earlier run that was stopped.
std::vector<Row> read_rows(const std::filesystem::path& path) {
  std::vector<Row> rows;
  if (!std::filesystem::exists(path)) return rows;
  const std::string text = read_file(path);
  datasets::CsvReader csv(text, path.string());
  const auto number = [&](std::size_t column) { return parse_number(csv.fields()[column]).value_or(std::nan("")); };
  while (csv.next()) {
    const auto& f = csv.fields();
    if (f.size() != 9) throw InputError(path.string() + ":" + std::to_string(csv.line()) + ": is no row of 9 fields");
    rows.push_back({std::string(f[0]), std::string(f[1]), std::string(f[2]), static_cast<std::size_t>(number(3)),
                    static_cast<int>(number(4)), number(5), number(6), number(7), number(8)});
  }
  return rows;
}

/// What tells rows apart.
auto key(const Row& row) { return std::tie(row.setting, row.networks, row.learner, row.kernels, row.split); }

/// All rows of the experiment; those that are there already are not made again.
class Experiment {
 public:
  explicit Experiment(const Settings& settings)
      : settings_(settings),
        table_(experiments::read_profiles(settings.tables / "operators.csv")),
        latencies_(read_latencies(settings.tables / "latency_ms.csv")),
        sums_(sums_of_features(table_)) {
    make_folder(settings.out);
    rows_ = read_rows(settings.out / "results.csv");
  }

  void run() {
    for (int split = 0; split < settings_.splits; ++split) {
      for (const std::size_t networks : training_sizes) {
        for (std::size_t setting = 0; setting < table_.settings.size(); ++setting) gpu(setting, networks, split);
        for (const auto& [setting, latency_ms] : latencies_) {
          if (setting.find("_gpu") != std::string::npos) continue;
          if (!is_there({setting, "lasso", "whole networks", networks, split})) {
            rows_.push_back(predict_cpu(table_, sums_, setting, latency_ms, networks, split));
          }
        }
        keep();
      }
    }
    std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return key(a) < key(b); });
    keep();
    write_file_atomically(settings_.out / "README.md", page_of(rows_, settings_.splits));
    std::cout << page_of(rows_, settings_.splits);
  }

 private:
  bool is_there(const Row& wanted) const {
    return std::any_of(rows_.begin(), rows_.end(), [&](const Row& row) { return key(row) == key(wanted); });
  }

  void gpu(std::size_t setting, std::size_t networks, int split) {
    const auto& latency_ms = latencies_.at(table_.settings[setting] + "_float");
    for (const LearnerKind learner : settings_.learners) {
      for (const bool deduced : {false, true}) {
        const std::string kernels = deduced ? "deduced" : "operations";
        if (is_there({table_.settings[setting], label(learner), kernels, networks, split})) continue;
        rows_.push_back(predict_gpu(table_, setting, latency_ms, learner, deduced, networks, split));
        keep();
      }
    }
  }

  void keep() const { write_file_quickly(settings_.out / "results.csv", csv_of(rows_)); }

  const Settings& settings_;
  experiments::ProfiledNetworks table_;
  Latencies latencies_;
  Eigen::MatrixXd sums_;
  std::vector<Row> rows_;
};

}  // namespace

int main(int argc, char** argv) {
  cxxopts::Options options("operation_wise", "Operation-wise latency prediction on public tables.");
  options.add_options()("tables", "folder with operators.csv and latency_ms.csv", cxxopts::value<std::string>())(
      "out", "folder of the results", cxxopts::value<std::string>())(
      "learners", "of lasso, small-forest, small-boosted, perceptron",
      cxxopts::value<std::vector<std::string>>()->default_value("lasso,small-forest,small-boosted,perceptron"))(
      "splits", "random splits of the networks", cxxopts::value<int>()->default_value("5"))("help", "this");
  try {
    const cxxopts::ParseResult given = options.parse(argc, argv);
    if (given.count("help") != 0 || given.count("tables") == 0 || given.count("out") == 0) {
      std::cout << options.help();
      return given.count("help") != 0 ? 0 : 2;
    }
    Settings settings{given["tables"].as<std::string>(), given["out"].as<std::string>(), {}, given["splits"].as<int>()};
    for (const std::string& learner : given["learners"].as<std::vector<std::string>>()) {
      settings.learners.push_back(trainer::kernels::learner_kind(learner));
    }
    Experiment(settings).run();
  } catch (const std::exception& error) {
    std::cerr << "operation_wise: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
