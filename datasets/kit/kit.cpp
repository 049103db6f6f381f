#include "datasets/kit/kit.h"

#include <nlohmann/json.hpp>

#include "datasets/kit/converted.h"
#include "datasets/kit/kit_manifest.h"
#include "datasets/tables/space_files.h"
#include "nasbench/formats/network_file.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/onnx.h"
#include "nasbench/graph/onnx_external.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/temporaries.h"

namespace tenshot::datasets {
namespace {

namespace fs = std::filesystem;

/// "arch_07" of 25, "arch_0007" of 1,000.
std::string architecture_id(std::size_t rank, std::size_t all) {
  const std::string number = std::to_string(rank);
  const std::size_t digits = std::max<std::size_t>(2, std::to_string(all).size());
  return "arch_" + std::string(digits - std::min(digits, number.size()), '0') + number;
}

struct ModelSource {
  KitModel model;
  nasbench::Network graph;
};

std::vector<ModelSource> sources_of(const KitRequest& request) {
  std::vector<ModelSource> sources;
  const auto add = [&](const std::string& id, int runs, nasbench::Network graph) -> KitModel& {
    sources.push_back({{}, std::move(graph)});
    sources.back().model.id = id;
    sources.back().model.runs = runs;
    return sources.back().model;
  };
  for (const Architecture& architecture : request.architectures) {  // a thousand graphs would fill memory: made later
    const std::string id = architecture_id(sources.size() + 1, request.architectures.size());
    add(id, request.runs, {}).architecture = architecture;
  }
  for (nasbench::Operator& op : request.space->operators(request.shape, request.batch)) {
    const std::string id = "op_" + op.name + "_" + std::to_string(op.key.channels());
    KitModel& model = add(id, request.operator_runs, std::move(op.graph));
    model.operator_name = op.name;
    model.key = op.key;
  }
  for (ChainGraph& chain : chain_graphs(request.space->operation_chains(request.shape, request.batch))) {
    const std::string prefix = chain.network.is_surroundings() ? "around" : "chain_" + chain.network.operation;
    const std::string id = prefix + "_" + std::to_string(chain.network.key.channels());
    add(id, request.operator_runs, std::move(chain.graph)).chain = std::move(chain.network);
  }
  return sources;
}

/// Models are written before their hashes are known; this tells a kit from another one before anything is touched.
std::string request_id(const KitRequest& request, const std::vector<ModelSource>& sources) {
  std::string text = std::string(kit_format) + '\n' + std::string(request.space->name());
  for (const std::string& number :
       {std::to_string(request.shape.resolution), std::to_string(request.shape.classes), std::to_string(request.batch),
        std::to_string(static_cast<long long>(request.weight_seed)), std::to_string(request.runs),
        std::to_string(request.operator_runs)}) {
    text += '\n' + number;
  }
  for (const Architecture& architecture : request.architectures) text += '\n' + request.space->format(architecture);
  for (const nasbench::OperationChain& chain : request.space->operation_chains(request.shape, 1)) {
    text += '\n' + chain.name + ' ' + std::to_string(chain.key.channels()) + ' ' + std::to_string(chain.repeats);
  }
  for (const ModelSource& source : sources) {  // of networks by name, whose files may leave their shapes open
    for (const nasbench::NetworkInput& input : source.model.inputs) {
      text += '\n' + input.name;
      for (const std::int64_t extent : input.type.shape) text += ' ' + std::to_string(extent);
    }
  }
  return sha256_hex(text).substr(0, 16);
}

/// The network in the user's own file, `batch` images where an ONNX file leaves that open.
nasbench::Network network_of(const nasbench::NamedNetwork& named, const KitRequest& request) {
  nasbench::Network network = named.read_again();
  if (request.batch == 1 || nasbench::network_format(named.file).suffix != ".onnx") return network;
  nasbench::NetworkReadOptions options;
  options.batch = request.batch;
  options.inputs_of_several = std::make_shared<std::set<std::string>>();
  for (const nasbench::NetworkInput& input : network.inputs) {
    const auto given = request.read.shapes.find(input.name);
    if (given == request.read.shapes.end()) continue;
    options.shapes.insert(*given);
    std::int64_t& images = options.shapes.at(input.name).front();
    if (images == 1) images = request.batch;
  }
  return nasbench::read_network_file(named.file, options);
}

/// Why measure.sh and its runners could not feed the network.
std::optional<std::string> feeding_problem(const std::vector<nasbench::NetworkInput>& inputs, int batch,
                                           const std::string& name) {
  if (inputs.empty()) return "network '" + name + "': it has no input, so a kit cannot measure it";
  for (const nasbench::NetworkInput& input : inputs) {
    const std::string place = "network '" + name + "', input '" + input.name + "': ";
    if (input.type.shape.empty()) {
      return place + "has no dimensions; a kit's runners feed inputs of one dimension at least";
    }
    const bool brain = input.type.type == nasbench::ElementType::bfloat16;
    if (brain || (!input.file_type.empty() && !begins_with(input.file_type, "uint"))) {
      return place + "takes " + (brain ? "bfloat16" : input.file_type) +
             ", which a kit's runners cannot feed; save it with float32 or int64 inputs";
    }
  }
  const std::int64_t images = inputs.front().type.shape.front();
  if (batch == 1 || images == batch) return std::nullopt;
  return "network '" + name + "': its input '" + inputs.front().name + "' begins with " + std::to_string(images) +
         ", and --batch says " + std::to_string(batch) + "; leave --batch out, or save the network with an open batch";
}

/// What a file of a network's weights is called in a kit: ONNX names its own; of other formats they go by the model's.
fs::path weights_name(const KitModel& model, const fs::path& file) {
  return model.suffix == ".onnx" ? file : fs::path(model.id + file.extension().string());
}

std::string suffix_of(const Architecture& network) {
  return nasbench::network_format(nasbench::named_network(network).file).suffix;
}

/// Notes the inputs of networks by name. Throws where their files are not there or cannot be measured.
void read_inputs(const KitRequest& request, std::vector<ModelSource>& sources) {
  std::map<fs::path, fs::path> data;  // what will be copied, from where
  for (ModelSource& source : sources) {
    const nasbench::NamedNetwork& named = nasbench::named_network(source.model.architecture);
    source.model.suffix = suffix_of(source.model.architecture);
    std::optional<std::string> problem = kit_problem(source.model.architecture, sources.front().model.suffix);
    if (!problem) source.model.inputs = network_of(named, request).inputs;
    if (!problem) problem = feeding_problem(source.model.inputs, request.batch, named.name);
    if (problem) throw InputError(*problem);
    for (const fs::path& file : nasbench::network_format(named.file).weight_files(named.file)) {
      const fs::path from = fs::path(named.file).parent_path() / file;
      const auto [other, first] = data.emplace(weights_name(source.model, file), from);
      if (!first && other->second != from && read_file(other->second) != read_file(from)) {
        throw InputError(from.string() + ": two networks of the kit name their weights so; rename those of '" +
                         named.name + "'");
      }
    }
  }
}

/// The bytes of a model that is made here; says its input.
std::string made_model(const KitRequest& request, ModelSource& source) {
  KitModel& model = source.model;
  const nasbench::Network network = model.is_architecture()
                                        ? request.space->computation(model.architecture, request.shape, request.batch)
                                        : source.graph;
  model.inputs = network.inputs;
  return nasbench::onnx_model(network, {model.weight_seed, model.id});
}

/// The bytes of the user's own file, whose weights are copied beside it where they lie in other files.
std::string copied_model(const fs::path& folder, const KitModel& model, KitSummary& summary) {
  const fs::path file = nasbench::named_network(model.architecture).file;
  for (const fs::path& data : nasbench::network_format(file).weight_files(file)) {
    const fs::path target = folder / "models" / weights_name(model, data);
    make_folder(target.parent_path());
    write_file_quickly(target, read_file(file.parent_path() / data));
    summary.bytes += fs::file_size(target);
  }
  const std::string bytes = read_file(file);
  return model.suffix == ".onnx" ? nasbench::with_fixed_inputs(bytes, model.inputs, file.string()) : bytes;
}

/// A network that gives its input as its output: what the runtime takes when it does nothing (quantities.sh).
std::string empty_model(const std::vector<ModelSource>& sources, const KitRequest& request) {
  nasbench::NetworkBuilder builder;
  builder.output(builder.input(nasbench::onnx_input_name, sources.front().model.inputs.front().type.shape));
  return nasbench::onnx_model(builder.take(), {request.weight_seed, "empty"});
}

void require_own_folder(const fs::path& folder, const std::string& id) {
  if (!is_there(folder)) return;
  if (!is_folder(folder)) throw FileError(folder.string() + ": is a file, not a folder");
  remove_stale_temporaries_of(folder / "models.tsv");  // of a kit whose writing was killed at its first file
  if (entries_of(folder).empty()) return;
  if (!is_kit(folder)) {
    if (is_there(folder / "models.tsv")) return;  // a kit whose writing was interrupted
    throw InputError(folder.string() + ": is not empty, and no kit; a kit needs a folder of its own");
  }
  if (read_kit_manifest(folder).id != id) {
    throw InputError(folder.string() +
                     ": holds another kit, whose results would mix with this one's; use another folder, or remove it");
  }
}

}  // namespace

KitSummary write_kit(const fs::path& folder, const KitRequest& request,
                     const std::function<void(std::size_t, std::size_t)>& written) {
  if (request.architectures.empty()) throw InputError("a kit needs at least one architecture to measure");
  const bool by_name = request.space == &nasbench::networks();
  std::vector<ModelSource> sources = sources_of(request);
  if (by_name) read_inputs(request, sources);
  KitManifest manifest{
      request_id(request, sources), request.space, request.shape, request.batch, request.weight_seed, {}};
  require_own_folder(folder, manifest.id);
  make_folder(folder);
  write_file_atomically(folder / "models.tsv", "# kit " + manifest.id + "\n");  // first: it says that a kit begins here
  make_folder(folder / "models");
  std::error_code ignored;
  fs::remove(folder / "converted.tsv", ignored);
  KitSummary summary;
  for (ModelSource& source : sources) {
    KitModel& model = source.model;
    // Every model has weights of its own, so that no compiler's cache takes one for another.
    model.weight_seed = request.weight_seed + manifest.models.size();
    const std::string bytes = by_name ? copied_model(folder, model, summary) : made_model(request, source);
    model.sha256 = sha256_hex(bytes);
    write_file_quickly(folder / model_file(model), bytes);
    summary.bytes += bytes.size();
    manifest.models.push_back(model);
    if (written) written(manifest.models.size(), sources.size());
  }
  summary.models = manifest.models.size();
  write_file_atomically(folder / "empty.onnx", empty_model(sources, request));
  for (const ShippedFile& file : kit_files()) {
    const fs::path path = folder / file.name;
    write_file_atomically(path, file.content);
    if (path.extension() == ".sh") {
      fs::permissions(path, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                      fs::perm_options::add);
    }
  }
  write_space_files(folder, *request.space, request.architectures);
  write_file_atomically(folder / "models.tsv", models_table(manifest));
  write_file_atomically(folder / "manifest.json", manifest_json(manifest).dump(1) + "\n");
  if (manifest.models.front().suffix != ".onnx") add_converted(folder, folder / "models");
  return summary;
}

std::optional<std::string> kit_problem(const Architecture& network, const std::string& suffix) {
  const nasbench::NamedNetwork& named = nasbench::named_network(network);
  if (named.file.empty()) {
    return "network '" + named.name + "' (" + named.origin +
           ") is known by its operators alone; give the folder of its file by --networks";
  }
  const nasbench::NetworkFormat& format = nasbench::network_format(named.file);
  if (format.suffix == ".param" && format.weight_files(named.file).empty()) {
    return named.file + ": a kit needs its weights beside it, " + named.name + ".bin";
  }
  if (!suffix.empty() && suffix != format.suffix) {
    return named.file + ": the kit is of *" + suffix +
           ", and no board runs two formats by one command; plan a kit of its own for *" + format.suffix;
  }
  const std::optional<std::string> problem = format.weights_problem(named.file);
  if (problem || suffix.empty()) return problem;
  try {  // in a kit only ONNX files get the sizes that they leave open
    return feeding_problem((suffix == ".onnx" ? named.read_again() : format.read(named.file, {})).inputs, 1,
                           named.name);
  } catch (const Error& error) {
    return "in a kit, *" + suffix + " files need a fixed size, by their converter: " + error.what();
  }
}

std::string kit_suffix(const std::vector<Architecture>& networks) {
  std::map<std::string, std::size_t> counts;
  for (const Architecture& network : networks) counts[suffix_of(network)] += kit_problem(network) ? 0 : 1;
  std::string most;
  for (const nasbench::NetworkFormat& format : nasbench::network_formats()) {
    if (counts[format.suffix] > counts[most]) most = format.suffix;
  }
  return most;
}

}  // namespace tenshot::datasets
