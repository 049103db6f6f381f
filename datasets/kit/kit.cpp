#include "datasets/kit/kit.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "datasets/kit/converted.h"
#include "datasets/kit/kit_files.h"
#include "datasets/kit/kit_manifest.h"
#include "datasets/tables/space_files.h"
#include "nasbench/formats/network_file.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/onnx.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/temporaries.h"

namespace tenshot::datasets {
namespace {

/// "arch_07" of 25, "arch_0007" of 1,000.
std::string architecture_id(std::size_t rank, std::size_t all) {
  const std::string number = std::to_string(rank);
  const std::size_t digits = std::max<std::size_t>(2, std::to_string(all).size());
  return "arch_" + std::string(digits - std::min(digits, number.size()), '0') + number;
}

struct ModelSource {
  KitModel model;
  nasbench::LayerGraph graph;
};

std::vector<ModelSource> sources_of(const KitRequest& request) {
  std::vector<ModelSource> sources;
  for (const Architecture& architecture : request.architectures) {
    KitModel model;
    model.id = architecture_id(sources.size() + 1, request.architectures.size());
    model.runs = request.runs;
    model.architecture = architecture;
    sources.push_back({std::move(model), {}});  // its graph is made when it is written: a thousand would fill memory
  }
  for (nasbench::Operator& op : request.space->operators(request.shape)) {
    KitModel model;
    model.id = "op_" + op.name + "_" + std::to_string(op.key.channels());
    model.runs = request.operator_runs;
    model.operator_name = op.name;
    model.key = op.key;
    sources.push_back({std::move(model), std::move(op.graph)});
  }
  for (ChainGraph& chain : chain_graphs(request.space->operation_chains(request.shape))) {
    KitModel model;
    const std::string prefix = chain.network.is_surroundings() ? "around" : "chain_" + chain.network.operation;
    model.id = prefix + "_" + std::to_string(chain.network.key.channels());
    model.runs = request.operator_runs;
    model.chain = std::move(chain.network);
    sources.push_back({std::move(model), std::move(chain.graph)});
  }
  return sources;
}

/// Models are written before their hashes are known; this tells a kit from another one before anything is touched.
std::string request_id(const KitRequest& request) {
  std::string text = std::string(kit_format) + '\n' + std::string(request.space->name());
  for (const long long number :
       {static_cast<long long>(request.shape.resolution), static_cast<long long>(request.shape.classes),
        static_cast<long long>(request.batch), static_cast<long long>(request.weight_seed),
        static_cast<long long>(request.runs), static_cast<long long>(request.operator_runs)}) {
    text += '\n' + std::to_string(number);
  }
  for (const Architecture& architecture : request.architectures) text += '\n' + request.space->format(architecture);
  for (const nasbench::OperationChain& chain : request.space->operation_chains(request.shape)) {
    text += '\n' + chain.name + ' ' + std::to_string(chain.key.channels()) + ' ' + std::to_string(chain.repeats);
  }
  return sha256_hex(text).substr(0, 16);
}

/// Batch, channels, height and width of a network's one input.
std::vector<int> input_of(const nasbench::Network& network, const std::string& model) {
  if (network.inputs.size() != 1 || network.inputs[0].type.shape.size() != 4) {
    throw InputError("model " + model + ": a kit's networks take one image, of four dimensions with the batch");
  }
  const nasbench::Shape& shape = network.inputs[0].type.shape;
  return {shape.begin(), shape.end()};
}

std::string suffix_of(const Architecture& network) {
  return nasbench::network_format(nasbench::named_network(network).file).suffix;
}

/// Before anything is written: a board would fail where a file is missing or short.
void require_network_files(const KitRequest& request) {
  for (const Architecture& architecture : request.architectures) {
    if (const std::optional<std::string> problem = kit_problem(architecture)) throw InputError(*problem);
    const std::string first = suffix_of(request.architectures.front()), other = suffix_of(architecture);
    if (other == first) continue;
    throw InputError("the kit would hold networks of two formats, " + first + " and " + other +
                     ", which no board runs by one command; plan a kit for each");
  }
}

/// The bytes of a model that is made here; says its input.
std::string made_model(const KitRequest& request, ModelSource& source) {
  KitModel& model = source.model;
  const nasbench::Network network = model.is_architecture()
                                        ? request.space->computation(model.architecture, request.shape, request.batch)
                                        : nasbench::network_of(source.graph, request.batch);
  model.input = input_of(network, model.id);
  return nasbench::onnx_model(network, {request.batch, model.weight_seed, model.id});
}

/// The bytes of the user's own ONNX file, whose external data are copied beside it; says its input.
std::string copied_model(const std::filesystem::path& folder, const KitRequest& request, KitModel& model) {
  const nasbench::NamedNetwork& named = nasbench::named_network(model.architecture);
  const std::filesystem::path file = named.file;
  model.suffix = suffix_of(model.architecture);
  nasbench::NetworkReadOptions options = request.read;
  options.batch = request.batch;
  options.shapes_of_several = true;
  model.input = input_of(nasbench::read_network_file(file, options), named.name);
  for (const std::filesystem::path& data : nasbench::network_format(file).weight_files(file)) {
    // ONNX names its files of weights; of other formats they go by the model's name.
    const std::filesystem::path target =
        folder / "models" /
        (model.suffix == ".onnx" ? data : std::filesystem::path(model.id + data.extension().string()));
    const std::string bytes = read_file(file.parent_path() / data);
    std::error_code ignored;
    if (std::filesystem::exists(target, ignored) && read_file(target) != bytes) {
      throw InputError(target.string() + ": two networks of the kit name their weights so; rename those of '" +
                       named.name + "'");
    }
    make_folder(target.parent_path());
    write_file_quickly(target, bytes);
  }
  return read_file(file);
}

/// A network that gives its input as its output: what the runtime takes when it does nothing (quantities.sh).
std::string empty_model(const std::vector<ModelSource>& sources, const KitRequest& request) {
  const std::vector<int>& input = sources.front().model.input;
  nasbench::Network network;
  network.inputs = {{nasbench::onnx_input_name, {{input.begin(), input.end()}, nasbench::ElementType::float32}}};
  network.outputs = {nasbench::Source{-1, 0}};
  return nasbench::onnx_model(network, {request.batch, request.weight_seed, "empty"});
}

void require_own_folder(const std::filesystem::path& folder, const std::string& id) {
  std::error_code ignored;
  if (!std::filesystem::exists(folder, ignored)) return;
  if (!std::filesystem::is_directory(folder, ignored)) throw FileError(folder.string() + ": is a file, not a folder");
  remove_stale_temporaries_of(folder / "models.tsv");  // of a kit whose writing was killed at its first file
  if (std::filesystem::is_empty(folder, ignored)) return;
  if (!is_kit(folder)) {
    if (std::filesystem::exists(folder / "models.tsv", ignored)) return;  // a kit whose writing was interrupted
    throw InputError(folder.string() + ": is not empty, and no kit; a kit needs a folder of its own");
  }
  if (read_kit_manifest(folder).id != id) {
    throw InputError(folder.string() +
                     ": holds another kit, whose results this one would mix with; use another folder");
  }
}

}  // namespace

KitSummary write_kit(const std::filesystem::path& folder, const KitRequest& request,
                     const std::function<void(std::size_t, std::size_t)>& written) {
  if (request.architectures.empty()) throw InputError("a kit needs at least one architecture to measure");
  if (request.space == &nasbench::networks()) require_network_files(request);
  KitManifest manifest;
  manifest.id = request_id(request);
  manifest.space = request.space;
  manifest.shape = request.shape;
  manifest.batch = request.batch;
  manifest.weight_seed = request.weight_seed;
  require_own_folder(folder, manifest.id);
  make_folder(folder);
  write_file_atomically(folder / "models.tsv", "# kit " + manifest.id + "\n");  // first: it says that a kit begins here
  make_folder(folder / "models");
  std::error_code ignored;
  std::filesystem::remove(folder / "converted.tsv", ignored);
  KitSummary summary;
  std::vector<ModelSource> sources = sources_of(request);
  for (ModelSource& source : sources) {
    KitModel& model = source.model;
    // Every model has weights of its own, so that no compiler's cache takes one for another.
    model.weight_seed = request.weight_seed + manifest.models.size();
    const std::string bytes =
        request.space == &nasbench::networks() ? copied_model(folder, request, model) : made_model(request, source);
    model.sha256 = sha256_hex(bytes);
    write_file_quickly(folder / model_file(model), bytes);
    summary.bytes += bytes.size();
    manifest.models.push_back(model);
    if (written) written(manifest.models.size(), sources.size());
  }
  summary.models = manifest.models.size();
  write_file_atomically(folder / "empty.onnx", empty_model(sources, request));
  for (const KitFile& file : kit_files()) {
    const std::filesystem::path path = folder / file.name;
    write_file_atomically(path, file.content);
    if (file.executable) {
      std::filesystem::permissions(
          path,
          std::filesystem::perms::owner_exec | std::filesystem::perms::group_exec | std::filesystem::perms::others_exec,
          std::filesystem::perm_options::add);
    }
  }
  write_space_files(folder, *request.space, request.architectures);
  write_file_atomically(folder / "models.tsv", models_table(manifest));
  write_file_atomically(folder / "manifest.json", manifest_json(manifest).dump(1) + "\n");
  if (manifest.models.front().suffix != ".onnx") add_converted(folder, folder / "models");
  return summary;
}

std::optional<std::string> kit_problem(const Architecture& network) {
  const nasbench::NamedNetwork& named = nasbench::named_network(network);
  if (named.file.empty()) {
    return "network '" + named.name + "' (" + named.origin +
           ") is known by its operators alone; give the folder of its file by --networks";
  }
  const nasbench::NetworkFormat& format = nasbench::network_format(named.file);
  if (format.suffix == ".param" && format.weight_files(named.file).empty()) {
    return named.file + ": a kit needs its weights beside it, " + named.name + ".bin";
  }
  return format.weights_problem(named.file);
}

}  // namespace tenshot::datasets
