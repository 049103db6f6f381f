#include "datasets/kit/kit.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "datasets/kit/kit_files.h"
#include "datasets/kit/kit_manifest.h"
#include "nasbench/graph/onnx.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"

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
    model.id = "op_" + op.name + "_" + std::to_string(op.channels);
    model.runs = request.operator_runs;
    model.operator_name = op.name;
    model.channels = op.channels;
    model.resolution = op.resolution;
    sources.push_back({std::move(model), std::move(op.graph)});
  }
  for (ChainGraph& chain : chain_graphs(request.space->operation_chains(request.shape))) {
    KitModel model;
    const std::string prefix = chain.network.is_surroundings() ? "around" : "chain_" + chain.network.operation;
    model.id = prefix + "_" + std::to_string(chain.network.channels);
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
    text += '\n' + chain.name + ' ' + std::to_string(chain.channels) + ' ' + std::to_string(chain.repeats);
  }
  return sha256_hex(text).substr(0, 16);
}

void require_own_folder(const std::filesystem::path& folder, const std::string& id) {
  std::error_code ignored;
  if (!std::filesystem::exists(folder, ignored)) return;
  if (!std::filesystem::is_directory(folder, ignored)) throw FileError(folder.string() + ": is a file, not a folder");
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
  KitManifest manifest;
  manifest.id = request_id(request);
  manifest.space = request.space;
  manifest.shape = request.shape;
  manifest.batch = request.batch;
  manifest.weight_seed = request.weight_seed;
  require_own_folder(folder, manifest.id);
  make_folder(folder / "models");
  write_file_atomically(folder / "models.tsv", "# kit " + manifest.id + "\n");
  KitSummary summary;
  std::vector<ModelSource> sources = sources_of(request);
  for (ModelSource& source : sources) {
    KitModel& model = source.model;
    const nasbench::LayerGraph graph =
        model.is_architecture() ? request.space->network(model.architecture, request.shape) : std::move(source.graph);
    const nasbench::TensorShape& input = graph.input_shape();
    model.input = {request.batch, input.channels, input.height, input.width};
    // Every model has weights of its own, so that no compiler's cache takes one for another.
    model.weight_seed = request.weight_seed + manifest.models.size();
    const std::string bytes = nasbench::onnx_model(graph, {request.batch, model.weight_seed, model.id});
    model.sha256 = sha256_hex(bytes);
    write_file_quickly(folder / model_file(model.id), bytes);
    summary.bytes += bytes.size();
    manifest.models.push_back(model);
    if (written) written(manifest.models.size(), sources.size());
  }
  summary.models = manifest.models.size();
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
  write_file_atomically(folder / "models.tsv", models_table(manifest));
  write_file_atomically(folder / "manifest.json", manifest_json(manifest).dump(1) + "\n");
  return summary;
}

}  // namespace tenshot::datasets
