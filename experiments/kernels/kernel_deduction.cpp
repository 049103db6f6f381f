// Kernels of TensorFlow Lite's GPU delegate, deduced by the algorithms of Li et al. (2024), Appendix B, against those
// that four phones really ran. Usage: kernel_deduction --table operators.csv --out FOLDER

#include <algorithm>
#include <cxxopts.hpp>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>

#include "experiments/kernels/deduced_kernels.h"
#include "experiments/kernels/profiles.h"
#include "experiments/kernels/published_cnn.h"
#include "nasbench/kernels/fusion_rules.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/text.h"

namespace {

using namespace tenshot;
using experiments::ProfiledNetwork;
using nasbench::OperatorKind;
using nasbench::OperatorSpecification;

/// "convolution_2d_5_linked_:_add_6_linked_:_relu_7" in parts: kernel "convolution_2d", links add and relu.
struct TrueKernel {
  std::string kernel;
  std::vector<std::string> links;
};

std::string without_numbers(std::string text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  while (true) {
    std::size_t end = text.size();
    while (end > 0 && is_digit(text[end - 1])) --end;
    if (end == text.size() || end == 0 || text[end - 1] != '_') return text;
    text.resize(end - 1);
  }
}

TrueKernel parse_kernel(const std::string& text) {
  constexpr std::string_view separator = "_linked_:_";
  TrueKernel result;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = text.find(separator, begin);
    const std::string part = without_numbers(text.substr(begin, end == std::string::npos ? end : end - begin));
    if (begin == 0) {
      result.kernel = part;
    } else {
      result.links.push_back(part);
    }
    if (end == std::string::npos) return result;
    begin = end + separator.size();
  }
}

/// The rules of the phone's delegate.
const nasbench::FusionRules& rules_of(const std::string& setting) {
  static const nasbench::FusionRules adreno = nasbench::fusion_rules("tflite-gpu-adreno6xx"),
                                     other = nasbench::fusion_rules("tflite-gpu-mali");
  // Adreno 640 and 616; Mali-G76; A12 (Li et al., 2024, Table 1).
  return setting == "pixel4_gpu" || setting == "mi8se_gpu" ? adreno : other;
}

struct Selection {
  int operators = 0, right = 0;
  std::map<std::pair<std::string, std::string>, int> wrong;  ///< deduced, ran
  std::map<std::string, std::pair<int, int>> convolutions;   ///< kernel that ran → all, deduced
};

Selection compare_selection(const experiments::ProfiledNetworks& table, std::size_t setting) {
  Selection result;
  for (const ProfiledNetwork& network : table.networks) {
    for (std::size_t i = 0; i < network.operators.size(); ++i) {
      const OperatorSpecification& op = network.operators[i];
      const std::string ran = parse_kernel(network.profiles[i][setting].kernel).kernel;
      const std::string deduced =
          chosen_kernel(rules_of(table.settings[setting]).kernels, op, nasbench::fusion_types(op).front());
      ++result.operators;
      if (op.kind == OperatorKind::convolution) {
        auto& [all, right] = result.convolutions[ran];
        ++all;
        right += ran == deduced ? 1 : 0;
      }
      if (ran == deduced) {
        ++result.right;
      } else {
        ++result.wrong[{deduced, ran}];
      }
    }
  }
  return result;
}

std::string link_name(const OperatorSpecification& op) {
  if (op.kind == OperatorKind::multiply) return "mul";
  if (op.kind == OperatorKind::add) return "add";
  return op.name == "relu6" || op.name == "clip" ? "relu" : op.name;
}

bool is_listed(const OperatorSpecification& op) {
  switch (op.kind) {
    case OperatorKind::convolution:
    case OperatorKind::linear:
    case OperatorKind::concatenate:
    case OperatorKind::max_pool:
    case OperatorKind::average_pool:
    case OperatorKind::global_pool: return true;
    default: return false;
  }
}

/// Whether two specifications are of one operator, as far as the table tells.
bool agree(const OperatorSpecification& built, const OperatorSpecification& listed) {
  if (built.kind != listed.kind || built.inputs[0][1] != listed.inputs[0][1] || built.output[1] != listed.output[1]) {
    return false;
  }
  if (built.kind == OperatorKind::linear || built.kind == OperatorKind::global_pool) return true;
  const bool same_image = built.output[2] == listed.output[2] && built.output[3] == listed.output[3];
  if (built.kind == OperatorKind::concatenate) return same_image && built.inputs.size() == listed.inputs.size();
  return same_image && built.kernel == listed.kernel && built.stride == listed.stride && built.groups == listed.groups;
}

/// The kernels that begin with an operator that the table lists, against the table: nothing where the network that we
/// build has other operators.
struct BuiltNetwork {
  const ProfiledNetwork* table = nullptr;
  std::vector<std::vector<std::string>> links;  ///< of each listed operator
};

BuiltNetwork build(const ProfiledNetwork& listed, experiments::InputOrder order) {
  const nasbench::Network network = experiments::with_batch_norms_converted(experiments::published_cnn(listed.name));
  BuiltNetwork result{&listed, {}};
  std::vector<nasbench::Kernel> kernels = experiments::tflite_gpu_kernels(network, order);
  // The table goes by the operators that kernels begin with.
  std::sort(kernels.begin(), kernels.end(),
            [](const nasbench::Kernel& a, const nasbench::Kernel& b) { return a.nodes.front() < b.nodes.front(); });
  for (const nasbench::Kernel& kernel : kernels) {
    const auto operation = [&](int node) { return network.nodes[static_cast<std::size_t>(node)].operation; };
    const OperatorSpecification first = operation(kernel.nodes.front());
    if (!is_listed(first)) continue;
    const std::size_t index = result.links.size();
    if (index >= listed.operators.size() || !agree(first, listed.operators[index])) {
      throw InputError(listed.name + ": operator " + std::to_string(index) + " is built as " + format(first) +
                       (index < listed.operators.size() ? ", but listed as " + format(listed.operators[index])
                                                        : ", but not listed"));
    }
    result.links.emplace_back();
    for (std::size_t i = 1; i < kernel.nodes.size(); ++i) {
      result.links.back().push_back(link_name(operation(kernel.nodes[i])));
    }
  }
  if (result.links.size() != listed.operators.size()) throw InputError(listed.name + ": not all operators are built");
  return result;
}

struct Fusion {
  int networks = 0, networks_right = 0, operators = 0, right = 0, untold = 0;
  std::vector<std::string> wrong;  ///< rows of wrong.csv
};

Fusion compare_fusion(const std::vector<BuiltNetwork>& networks, const experiments::ProfiledNetworks& table,
                      std::size_t setting) {
  Fusion result;
  for (const BuiltNetwork& network : networks) {
    ++result.networks;
    bool all_right = true;
    for (std::size_t i = 0; i < network.links.size(); ++i) {
      const TrueKernel ran = parse_kernel(network.table->profiles[i][setting].kernel);
      if (ran.kernel.find("winograd") != std::string::npos) {  // names of its three kernels do not say what is linked
        ++result.untold;
        continue;
      }
      ++result.operators;
      if (ran.links == network.links[i]) {
        ++result.right;
        continue;
      }
      all_right = false;
      result.wrong.push_back(network.table->name + "," + std::to_string(i) + "," + table.settings[setting] + "," +
                             joined(network.links[i], "+") + "," + network.table->profiles[i][setting].kernel);
    }
    result.networks_right += all_right ? 1 : 0;
  }
  return result;
}

void write_selection(std::ostream& page, const experiments::ProfiledNetworks& table) {
  page << "## Which kernel\n\n"
          "Operators of all "
       << table.networks.size()
       << " networks; the last columns are convolutions by the kernel that ran, deduced of all.\n\n"
          "| GPU | operators | deduced right | convolution_2d | winograd | grouped | depthwise | fully_connected | "
          "others |\n|---|---|---|---|---|---|---|---|---|\n";
  std::ostringstream wrong;
  for (std::size_t setting = 0; setting < table.settings.size(); ++setting) {
    const Selection found = compare_selection(table, setting);
    page << "| " << table.settings[setting] << " | " << found.operators << " | " << found.right;
    int others = 0, others_right = 0;
    std::map<std::string, std::pair<int, int>> left = found.convolutions;
    for (const char* kernel : {"convolution_2d", "convolution_winograd_4x4_6x6", "convolution_2d_grouped",
                               "depthwise_convolution", "fully_connected"}) {
      page << " | " << left[kernel].second << " of " << left[kernel].first;
      left.erase(kernel);
    }
    for (const auto& [kernel, counts] : left) {
      others += counts.first;
      others_right += counts.second;
    }
    page << " | " << others_right << " of " << others << " |\n";
    for (const auto& [kernels, count] : found.wrong) {
      wrong << "- " << table.settings[setting] << ": " << count << " × `" << kernels.second << "`, deduced as `"
            << kernels.first << "`\n";
    }
  }
  page << "\n" << wrong.str();
}

void write_fusion(std::ostream& page, const experiments::ProfiledNetworks& table,
                  const std::vector<const ProfiledNetwork*>& known, const std::filesystem::path& folder) {
  page << "\n## What is fused\n\n"
          "Of "
       << known.size()
       << " networks that `experiments/kernels/published_cnn.h` builds with their element-wise "
          "operators and edges. Every operator is the table's (kind, channels, image, window, stride, groups), in its "
          "order; its links are right where all are, in order. Winograd kernels do not tell their links.\n\n"
          "| GPU | inputs of additions | networks | all right | operators | links right | untold |\n"
          "|---|---|---|---|---|---|---|\n";
  std::string wrong = "network,index,setting,deduced,ran\n";
  for (const experiments::InputOrder order :
       {experiments::InputOrder::as_written, experiments::InputOrder::latest_written}) {
    const bool as_printed = order == experiments::InputOrder::as_written;
    std::vector<BuiltNetwork> networks;
    for (const ProfiledNetwork* network : known) networks.push_back(build(*network, order));
    for (std::size_t setting = 0; setting < table.settings.size(); ++setting) {
      const Fusion found = compare_fusion(networks, table, setting);
      page << "| " << table.settings[setting] << " | "
           << (as_printed ? "as written (Algorithm B.2 as printed)" : "latest first") << " | " << found.networks
           << " | " << found.networks_right << " | " << found.operators << " | " << found.right << " | " << found.untold
           << " |\n";
      if (!as_printed) {
        for (const std::string& row : found.wrong) wrong += row + "\n";
      }
    }
  }
  page << "\n[wrong.csv](wrong.csv) lists what is wrong with the latest input first.\n\nNetworks: ";
  for (const ProfiledNetwork* network : known) page << (network == known.front() ? "" : ", ") << network->name;
  page << ".\n";
  write_file_atomically(folder / "wrong.csv", wrong);
}

void run(const std::string& table_file, const std::filesystem::path& folder) {
  const experiments::ProfiledNetworks table = experiments::read_profiles(table_file);
  const std::vector<std::string> names = experiments::published_cnn_names();
  std::vector<const ProfiledNetwork*> known;
  for (const ProfiledNetwork& network : table.networks) {
    if (std::find(names.begin(), names.end(), network.name) != names.end()) known.push_back(&network);
  }
  std::ostringstream page;
  page << "# Kernel deduction\n\n"
          "`kernel_deduction --table $TENSHOT_TABLES/mobile-cnn/operators.csv --out "
          "experiments/kernels/kernel_deduction`: the kernels of TensorFlow Lite's GPU delegate by Algorithms B.2 and "
          "B.3 of Li et al. (Performance Evaluation 165, 2024) against those that four phones ran (Li, Paolieri and "
          "Golubchik, EdgeSys 2024): Adreno 640 and 616, Mali-G76, A12.\n\n";
  make_folder(folder);
  write_selection(page, table);
  write_fusion(page, table, known, folder);
  write_file_atomically(folder / "README.md", page.str());
  std::cout << page.str();
}

}  // namespace

int main(int argc, char** argv) {
  cxxopts::Options options("kernel_deduction", "Deduces the kernels of TensorFlow Lite's GPU delegate.");
  options.add_options()("table", "operators with NAME_ms and NAME_kernel", cxxopts::value<std::string>())(
      "out", "folder of the results", cxxopts::value<std::string>())("help", "this");
  try {
    const cxxopts::ParseResult given = options.parse(argc, argv);
    if (given.count("help") != 0 || given.count("table") == 0 || given.count("out") == 0) {
      std::cout << options.help();
      return given.count("help") != 0 ? 0 : 2;
    }
    run(given["table"].as<std::string>(), given["out"].as<std::string>());
  } catch (const std::exception& error) {
    std::cerr << "kernel_deduction: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
