// Rules that test cases detect on the runtimes of LibTorch, against what its compiled graphs execute. Usage:
// fusion_detection --out FOLDER [--runtimes libtorch-frozen,libtorch-optimized] [--rounds 60]

#include "descriptor/fusion/fusion_detection.h"

#include <cxxopts.hpp>
#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "descriptor/runtimes/compiled_graph.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"

namespace {

using namespace tenshot;
using descriptor::PairFinding;

/// Nodes that compute: no constants, no changes of layout, no lists.
int computing_nodes(const std::string& runtime, const nasbench::Network& network) {
  int count = 0;
  for (const auto& [kind, times] : descriptor::compiled_node_counts(runtime, network)) {
    const bool moves = kind == "aten::to_mkldnn" || kind == "aten::to_dense" || kind == "aten::contiguous" ||
                       kind == "aten::to" || kind == "aten::reshape" || kind == "aten::size";
    const bool computes = kind.rfind("aten::", 0) == 0 || kind.rfind("prepacked::", 0) == 0 ||
                          kind.rfind("prim::mkldnn_convolution", 0) == 0 || kind.rfind("prim::MKLDNN", 0) == 0;
    if (computes && !moves) count += times;
  }
  return count;
}

/// Whether the graph of two operators in a row executes less than the graphs of each. Nothing is compiled by
/// libtorch-eager, which executes operator by operator.
bool fused_in_graph(const std::string& runtime, const PairFinding& pair, const descriptor::CaseImage& image) {
  if (runtime == "libtorch-eager" || runtime == "libtorch-channels-last") return false;
  return computing_nodes(runtime, pair_case(pair.first, pair.second, image)) <
         computing_nodes(runtime, single_case(pair.first, image)) +
             computing_nodes(runtime, single_case(pair.second, image));
}

struct Counts {
  int pairs = 0, undecided = 0, both = 0, detected = 0, truly = 0;
  std::vector<std::string> wrong;
};

std::string ratio(int part, int all) {
  if (all == 0) return "– (none)";
  std::ostringstream text;
  text.precision(0);
  text << std::fixed << 100.0 * part / all << " % (" << part << " of " << all << ")";
  return text.str();
}

Counts compare(const std::string& runtime, const descriptor::FusionFindings& findings,
               const descriptor::CaseImage& image, std::ostream& csv) {
  Counts counts;
  for (const PairFinding& pair : findings.pairs) {
    const bool truly = fused_in_graph(runtime, pair, image);
    ++counts.pairs;
    counts.undecided += pair.decided ? 0 : 1;
    counts.detected += pair.fused ? 1 : 0;
    counts.truly += truly ? 1 : 0;
    counts.both += pair.fused && truly ? 1 : 0;
    if (pair.fused != truly) counts.wrong.push_back(pair.first + "++" + pair.second);
    csv << runtime << "," << pair.first << "," << pair.second << "," << pair.first_ms << "," << pair.second_ms << ","
        << pair.connected_ms << "," << pair.saved << "," << pair.saved_error << "," << pair.rounds << ","
        << pair.decided << "," << pair.fused << "," << truly << "\n";
  }
  return counts;
}

void run(const std::vector<std::string>& runtimes, int rounds, const std::filesystem::path& out) {
  make_folder(out);
  std::ostringstream page, csv;
  page << "# Fusion that test cases detect\n\n"
          "`fusion_detection --out experiments/results/fusion_detection`: every two operators in a row, judged by "
          "Inequality 1 of nn-Meter (Zhang et al., MobiSys 2021; α = .5), against what LibTorch's compiled graph "
          "executes: fused is a pair whose graph has fewer computing nodes than the two operators' graphs. "
          "[pairs.csv](pairs.csv) has the times.\n\n"
          "| runtime | pairs | fused in the graph | detected | precision | recall | within the noise | wrong |\n"
          "|---|---|---|---|---|---|---|---|\n";
  csv << "runtime,first,second,first_ms,second_ms,connected_ms,saved,saved_error,rounds,decided,detected,in_graph\n";
  for (const std::string& name : runtimes) {
    const auto runtime = descriptor::make_runtime(name);
    descriptor::FusionDetectionOptions options;
    options.most_rounds = rounds;
    const descriptor::FusionFindings findings = detect_fusion(descriptor::time_on(*runtime, {}), options);
    const Counts counts = compare(name, findings, options.image, csv);
    page << "| " << name << " | " << counts.pairs << " | " << counts.truly << " | " << counts.detected << " | "
         << ratio(counts.both, counts.detected) << " | " << ratio(counts.both, counts.truly) << " | "
         << counts.undecided << " | ";
    for (std::size_t i = 0; i < counts.wrong.size(); ++i) page << (i == 0 ? "" : ", ") << counts.wrong[i];
    page << " |\n";
    std::cerr << name << " done\n";
  }
  write_file_atomically(out / "README.md", page.str());
  write_file_atomically(out / "pairs.csv", csv.str());
  std::cout << page.str();
}

}  // namespace

int main(int argc, char** argv) {
  cxxopts::Options options("fusion_detection", "Detects fusion and compares it with LibTorch's compiled graphs.");
  options.add_options()("out", "folder of the results", cxxopts::value<std::string>())(
      "runtimes", "of LibTorch",
      cxxopts::value<std::vector<std::string>>()->default_value(
          "libtorch-eager,libtorch-frozen,libtorch-optimized,libtorch-xnnpack"))(
      "rounds", "most rounds of a case", cxxopts::value<int>()->default_value("40"))("help", "this");
  try {
    const cxxopts::ParseResult given = options.parse(argc, argv);
    if (given.count("help") != 0 || given.count("out") == 0) {
      std::cout << options.help();
      return given.count("help") != 0 ? 0 : 2;
    }
    run(given["runtimes"].as<std::vector<std::string>>(), given["rounds"].as<int>(), given["out"].as<std::string>());
  } catch (const std::exception& error) {
    std::cerr << "fusion_detection: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
