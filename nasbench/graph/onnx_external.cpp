#include "nasbench/graph/onnx_external.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <system_error>

#include "nasbench/graph/limits.h"
#include "nasbench/graph/onnx_file.h"
#include "nasbench/graph/onnx_values.h"
#include "nasbench/graph/onnx_weight_inputs.h"
#include "nasbench/support/error.h"
#include "nasbench/support/file_kind.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot::nasbench {
namespace {

using Visit = std::function<void(const onnx::TensorProto&)>;

/// Calls `visit` with each tensor of the node, and then of the model, whose data lie in another file.
void for_each_external(const onnx::NodeProto& node, const Visit& visit) {
  const auto look_at = [&](const onnx::TensorProto& tensor) {
    if (tensor.data_location() == onnx::TensorProto::EXTERNAL) visit(tensor);
  };
  const auto look_into = [&](const onnx::GraphProto& graph) {
    for (const onnx::TensorProto& tensor : graph.initializer()) look_at(tensor);
    for (const onnx::NodeProto& inner : graph.node()) for_each_external(inner, visit);
  };
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.has_t()) look_at(attribute.t());
    for (const onnx::TensorProto& tensor : attribute.tensors()) look_at(tensor);
    if (attribute.has_g()) look_into(attribute.g());
    for (const onnx::GraphProto& graph : attribute.graphs()) look_into(graph);
  }
}

void for_each_external(const OnnxFile& file, const Visit& visit) {
  for (const onnx::TensorProto& tensor : file.initializers) {
    if (tensor.data_location() == onnx::TensorProto::EXTERNAL) visit(tensor);
  }
  for (const onnx::NodeProto& node : file.nodes) for_each_external(node, visit);
  for (const onnx::FunctionProto& function : file.functions) {
    for (const onnx::NodeProto& node : function.node()) for_each_external(node, visit);
  }
}

std::string entry_of(const onnx::TensorProto& tensor, std::string_view key) {
  for (const onnx::StringStringEntryProto& entry : tensor.external_data()) {
    if (entry.key() == key) return entry.value();
  }
  return {};
}

bool leads_out(const std::filesystem::path& path) {
  return path.empty() || path.is_absolute() || std::find(path.begin(), path.end(), "..") != path.end();
}

std::uint64_t number_of(const onnx::TensorProto& tensor, std::string_view key) {
  return static_cast<std::uint64_t>(std::max<long long>(0, parse_integer(entry_of(tensor, key)).value_or(0)));
}

/// How many bytes the elements of `tensor` take; 0 where that is more than any file has.
std::uint64_t bytes_of(const onnx::TensorProto& tensor) {
  double bytes = bit_count(tensor.data_type()) / 8.0;
  for (const std::int64_t dimension : tensor.dims()) bytes *= static_cast<double>(dimension);
  return bytes > 0 && bytes < 1e15 ? static_cast<std::uint64_t>(std::ceil(bytes)) : 0;
}

/// Where the data of `tensor` end in their file, as far as the model says it.
std::uint64_t end_of_data(const onnx::TensorProto& tensor) {
  const std::uint64_t length = number_of(tensor, "length");
  return number_of(tensor, "offset") + (length > 0 ? length : bytes_of(tensor));
}

/// The data file at `location`, from the folder of the model; nothing where that is not inside the folder.
std::optional<std::filesystem::path> data_file(const std::filesystem::path& model, const std::string& location) {
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::weakly_canonical(model, ignored).parent_path();
  const std::filesystem::path target = std::filesystem::weakly_canonical(folder / location, ignored);
  if (leads_out(location) || leads_out(target.lexically_relative(folder))) return std::nullopt;
  return target;
}

std::vector<std::filesystem::path> data_files(const OnnxFile& file, const std::filesystem::path& model) {
  std::set<std::string> locations;
  for_each_external(file, [&](const onnx::TensorProto& tensor) {
    for (const onnx::StringStringEntryProto& entry : tensor.external_data()) {
      if (entry.key() == "location") locations.insert(entry.value());
    }
  });
  std::vector<std::filesystem::path> files;
  for (const std::string& location : locations) {
    if (!data_file(model, location)) {
      reject({"'", model.string(), "': its weights are in '", excerpt(location),
              "', which is not inside the model's folder"});
    }
    files.emplace_back(location);
  }
  return files;
}

bool fix(onnx::ValueInfoProto& input, const Shape& wanted) {
  onnx::TensorShapeProto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
  bool changed = false;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const int index = static_cast<int>(i);
    onnx::TensorShapeProto::Dimension& dimension =
        index < shape.dim_size() ? *shape.mutable_dim(index) : *shape.add_dim();
    if (dimension.has_dim_value() && dimension.dim_value() == wanted[i]) continue;
    dimension.set_dim_value(wanted[i]);
    changed = true;
  }
  return changed;
}

}  // namespace

std::vector<std::filesystem::path> external_data_files(const std::filesystem::path& model) {
  return data_files(read_onnx_file(model), model);
}

void read_kept_data(OnnxFile& file, const std::filesystem::path& model) {
  constexpr std::uint64_t most_bytes = 128, most_bytes_of_indices = 8 * kept_integers;
  std::map<std::string, std::ifstream> opened;  // "" is the model itself
  opened[""].open(model, std::ios::binary);
  std::uint64_t large = 0;
  for (std::size_t i = 0; i < file.initializers.size(); ++i) {
    onnx::TensorProto& tensor = file.initializers[i];
    const OnnxData& own = file.left_out[i];
    const std::uint64_t bytes = bytes_of(tensor);
    const bool outside = tensor.data_location() == onnx::TensorProto::EXTERNAL;
    const std::string location = outside ? entry_of(tensor, "location") : "";
    if (bytes == 0 || outside == location.empty() || (!outside && bytes != own.bytes)) continue;
    const bool is_kept = most_kept(tensor.data_type()) > kept_numbers && bytes <= most_bytes_of_indices;
    if (bytes > most_bytes && (!is_kept || (large += bytes) > onnx_byte_limit)) continue;
    const auto [from, is_new] = opened.try_emplace(location);
    const auto path = is_new ? data_file(model, location) : std::nullopt;
    if (path && is_file(*path)) from->second.open(*path, std::ios::binary);
    std::string data(bytes, '\0');
    from->second.clear();
    from->second.seekg(static_cast<std::streamoff>(outside ? number_of(tensor, "offset") : own.offset));
    if (!from->second.is_open() || !from->second.read(data.data(), static_cast<std::streamsize>(bytes))) continue;
    tensor.set_raw_data(data);
    tensor.set_data_location(onnx::TensorProto::DEFAULT);
  }
}

std::optional<std::string> external_data_problem(const std::filesystem::path& model) {
  const OnnxFile file = read_onnx_file(model);
  if (!WeightInputs(file).weights().empty()) {
    return "'" + model.string() +
           "': its weights are inputs, which runtimes take anew with every run and kits do not " +
           "feed; save them in the file (in PyTorch: export_params=True)";
  }
  std::map<std::string, std::uint64_t> sizes;
  const std::string place = "'" + model.string() + "': its weights are in '";
  std::vector<std::filesystem::path> files;
  try {
    files = data_files(file, model);
  } catch (const FormatError& outside) {
    return outside.what();
  }
  for (const std::filesystem::path& data : files) {
    std::error_code error;
    const std::uint64_t size = std::filesystem::file_size(model.parent_path() / data, error);
    if (error) return place + excerpt(data.string()) + "', which cannot be read: " + error.message();
    sizes[data.string()] = size;
  }
  std::optional<std::string> problem;
  for_each_external(file, [&](const onnx::TensorProto& tensor) {
    const std::string location = entry_of(tensor, "location");
    const auto found = sizes.find(location);
    const std::uint64_t size = found == sizes.end() ? 0 : found->second, end = end_of_data(tensor);
    if (problem || found == sizes.end() || end <= size) return;
    const std::optional<FileKind> kind = file_kind(model.parent_path() / location);
    problem = place + excerpt(location) + "', which has " + std::to_string(size) + " bytes, but '" +
              excerpt(tensor.name()) + "' ends at byte " + std::to_string(end) + ": the file is " +
              (kind ? kind->what + "; " + kind->advice : "cut short");
  });
  return problem;
}

std::string with_fixed_inputs(const std::string& model, const std::vector<NetworkInput>& inputs,
                              const std::string& file) {
  onnx::ModelProto proto;
  if (model.size() > std::numeric_limits<int>::max() || !proto.ParseFromString(model)) {
    reject({"'", file, "': is no ONNX model of at most 2 GiB; keep large weights in a file beside it"});
  }
  bool changed = false;
  for (onnx::ValueInfoProto& input : *proto.mutable_graph()->mutable_input()) {
    const auto known = std::find_if(inputs.begin(), inputs.end(),
                                    [&](const NetworkInput& candidate) { return candidate.name == input.name(); });
    if (known != inputs.end() && fix(input, known->type.shape)) changed = true;
  }
  return changed ? proto.SerializeAsString() : model;
}

}  // namespace tenshot::nasbench
