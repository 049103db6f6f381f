#include <array>
#include <iostream>

#include "datasets/tables/csv.h"
#include "datasets/tables/space_files.h"
#include "nasbench/formats/network_file.h"
#include "nasbench/graph/onnx.h"
#include "nasbench/spaces/network_space.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/spaces/synthetic_networks.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "trainer/cli/shared_options.h"
#include "trainer/networks/formula.h"
#include "trainer/predictors/registry.h"

namespace tenshot::cli {
namespace {

using nasbench::Network;

struct KindCosts {
  int count = 0;
  std::int64_t multiply_adds = 0, parameters = 0, input_bytes = 0, output_bytes = 0, weight_bytes = 0;

  /// `stored` is what the file stores of its parameters.
  void add(const nasbench::OperatorSpecification& operation, std::int64_t stored) {
    ++count;
    multiply_adds += nasbench::multiply_adds(operation);
    parameters += stored;
    input_bytes += read_bytes(operation, nasbench::input_bytes(operation));
    output_bytes += nasbench::output_bytes(operation);
    weight_bytes += read_bytes(operation, nasbench::weight_bytes(operation));
  }
};

std::string kind_of(const nasbench::OperatorSpecification& operation) {
  const std::string kind(name(operation.kind));
  return operation.name.empty() ? kind : kind + " " + operation.name;
}

std::map<std::string, KindCosts> costs_of(const Network& network, KindCosts& total) {
  std::map<std::string, KindCosts> by_kind;
  const std::vector<std::int64_t> stored = stored_parameters(network);
  for (std::size_t i = 0; i < network.nodes.size(); ++i) {
    const nasbench::OperatorSpecification& operation = network.nodes[i].operation;
    total.add(operation, stored[i]);
    by_kind[kind_of(operation)].add(operation, stored[i]);
  }
  return by_kind;
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KindCosts, count, multiply_adds, parameters, input_bytes, output_bytes, weight_bytes)

nlohmann::json to_json(const Network& network) {
  KindCosts total;
  const auto by_kind = costs_of(network, total);
  nlohmann::json json = {
      {"hash", content_hash(network)},      {"total", total},       {"inputs", nlohmann::json::array()},
      {"outputs", nlohmann::json::array()}, {"operators", by_kind}, {"remarks", network.remarks}};
  for (const nasbench::NetworkInput& input : network.inputs) {
    const std::string type(input.file_type.empty() ? nasbench::name(input.type.type) : input.file_type);
    json["inputs"].push_back({{"name", input.name}, {"shape", input.type.shape}, {"type", type}});
  }
  for (const nasbench::Source& output : network.outputs) {
    const nasbench::TensorType type = tensor_type(network, output);
    json["outputs"].push_back({{"shape", type.shape}, {"type", nasbench::name(type.type)}});
  }
  return json;
}

std::string text_of(const nasbench::TensorType& type) {
  return nasbench::format(type.shape) + " " + std::string(nasbench::name(type.type));
}

std::string row(const std::string& first, const std::array<std::string, 4>& others) {
  std::string line = first + std::string(first.size() < 28 ? 28 - first.size() : 1, ' ');
  for (const std::string& other : others) line += std::string(other.size() < 16 ? 16 - other.size() : 1, ' ') + other;
  return line + "\n";
}

std::string row(const std::string& first, const KindCosts& costs) {
  return row(first, {std::to_string(costs.count), std::to_string(costs.multiply_adds), std::to_string(costs.parameters),
                     std::to_string(costs.input_bytes + costs.output_bytes + costs.weight_bytes)});
}

std::string to_text(const Network& network) {
  std::string text;
  for (const nasbench::NetworkInput& input : network.inputs) {
    text += "input " + input.name + ": " + text_of(input.type) + "\n";
  }
  for (const nasbench::Source& output : network.outputs)
    text += "output: " + text_of(tensor_type(network, output)) + "\n";
  text += row("operator", {"count", "multiply-adds", "parameters", "bytes moved"});
  KindCosts total;
  for (const auto& [kind, of_kind] : costs_of(network, total)) text += row(kind, of_kind);
  text += row("total", total);
  for (const std::string& remark : network.remarks) text += "remark: " + remark + "\n";
  return text + "hash " + content_hash(network) + "\n";
}

/// The spaces that networks are drawn from, with what their files' names begin with.
const std::map<std::string, std::pair<std::string, Network (*)(std::uint64_t, std::uint64_t, int)>> generated_spaces = {
    {"synthetic-cnn", {"synthetic_cnn", nasbench::synthetic_cnn}},
    {"synthetic-blocks", {"synthetic_blocks", nasbench::synthetic_blocks}}};

/// The architectures of a table, and what its column `network` calls each.
std::vector<nasbench::Architecture> named_networks(const std::string& file, const nasbench::NetworkSpace& space) {
  const std::string text = read_file(file);
  datasets::CsvReader csv(text, file);
  const std::size_t architecture = csv.require("architecture", "architecture,network");
  const std::size_t network = csv.require("network", "architecture,network");
  std::vector<nasbench::Architecture> identities;
  while (csv.next()) {
    if (csv.fields().size() != csv.header().size()) {
      throw InputError(file + ", line " + std::to_string(csv.line()) + ": has " + std::to_string(csv.fields().size()) +
                       " fields, expected " + std::to_string(csv.header().size()));
    }
    identities.push_back(nasbench::add_network(nasbench::named_network(
        std::string(csv.fields()[network]), space.operator_list(space.parse(csv.fields()[architecture])), file)));
  }
  if (identities.empty()) throw InputError(file + ": names no architecture");
  nasbench::require_distinct_names(identities);
  return identities;
}

/// A row for each network: its name, and what forward() of the exported predictor takes of it.
std::string table_of(const nasbench::NetworkSpace& space, const trainer::ExportedFormula& formula,
                     const std::vector<nasbench::Architecture>& networks) {
  const Eigen::MatrixXd encoding = formula.encode(networks);
  std::string text = "network";
  for (const std::string& column : formula.columns) text += "," + column;
  text += "\n";
  for (std::size_t i = 0; i < networks.size(); ++i) {
    text += space.format(networks[i]);
    for (const double value : encoding.row(static_cast<Eigen::Index>(i))) text += "," + shortest(value);
    text += "\n";
  }
  return text;
}

}  // namespace

void run_network_describe(const OptionParser& options) {
  const std::filesystem::path file = options.required("model");
  nasbench::NetworkReadOptions read = read_options(options);
  read.batch = options.integer("batch", 1);
  Network network = nasbench::read_network_file(file, read);
  if (const auto problem = nasbench::network_format(file).weights_problem(file)) network.remarks.push_back(*problem);
  std::cout << (options.has("json") ? to_json(network).dump(1) + "\n" : to_text(network));
}

void run_network_features(const OptionParser& options) {
  const std::string file = options.required("predictor"), out = options.required("out");
  FileRoles files(options);
  files.makes("--out", out);
  const auto predictor = trainer::load_predictor(file);
  const trainer::ExportedFormula formula = predictor->formula();
  if (formula.encode == nullptr) {
    throw InputError(file + ": is a predictor '" + std::string(predictor->kind()) + "' of the space " +
                     std::string(predictor->space().name()) +
                     ", whose export reads strings or has none; features are of networks by name");
  }
  const std::vector<nasbench::Architecture> networks = networks_or_arguments(options, predictor->space());
  if (networks.empty()) throw UsageError("which networks? name them as arguments (model.onnx) or by --networks");
  write_file_atomically(out, table_of(predictor->space(), formula, networks));
  say_written(out, std::to_string(networks.size()) + " networks",
              "torch.jit.load(…).forward(torch.tensor(pandas.read_csv(file, index_col=0).to_numpy()))");
}

void run_network_generate(const OptionParser& options) {
  const std::string space = options.get("space");
  const auto drawn_from = generated_spaces.find(space);
  if (drawn_from == generated_spaces.end()) {
    throw UsageError("networks are generated from the spaces synthetic-cnn and synthetic-blocks, not from '" + space +
                     "'");
  }
  const std::filesystem::path folder = options.required("out");
  const int count = options.integer("count", 1), batch = options.integer("batch", 1);
  const auto seed = static_cast<std::uint64_t>(options.integer("seed", 0));
  MadeFolders made;
  made.folder(folder);
  const std::size_t digits = std::to_string(count - 1).size();
  for (int i = 0; i < count; ++i) {
    std::string number = std::to_string(i);
    number.insert(0, digits - number.size(), '0');
    const auto& [prefix, draw] = drawn_from->second;
    const std::string name = prefix + "_" + std::to_string(seed) + "_" + number;
    const Network network = draw(seed, static_cast<std::uint64_t>(i), batch);
    write_file_atomically(folder / (name + ".onnx"), nasbench::onnx_model(network, {seed, name}));
  }
  say(std::to_string(count) + " networks of " + space + " written to " + folder.string() +
      "; next: tenshot network describe " + shell_word(folder.string() + "/NAME.onnx"));
}

void run_network_list(const OptionParser& options) {
  const nasbench::NetworkSpace& space = datasets::named_space(options.required("space"));
  const std::string archs = options.required("archs"), out = options.required("out");
  FileRoles files("--archs", archs);
  files.makes("--out", out);
  const std::vector<nasbench::Architecture> identities = named_networks(archs, space);
  write_file_atomically(out, nasbench::networks_json(identities).dump(1) + "\n");
  say_written(
      out, std::to_string(identities.size()) + " networks",
      "tenshot dataset import --space networks --networks " + shell_word(out) + " --table latency_ms.csv --out pool");
}

}  // namespace tenshot::cli
