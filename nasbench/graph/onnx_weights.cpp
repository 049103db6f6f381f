#include "nasbench/graph/onnx_weights.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "nasbench/graph/onnx_file.h"
#include "nasbench/graph/onnx_values.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench {
namespace {

/// Where the numbers of one tensor lie, as its message says.
struct Found {
  std::string name;
  std::uint64_t offset = 0, bytes = 0;
};

// Fields of onnx.proto: ModelProto.graph, GraphProto.initializer, TensorProto's float_data, name and raw_data.
constexpr std::uint32_t graph_field = 7, initializer_field = 5, float_data_field = 4, name_field = 8, raw_field = 9;

/// Walks over the messages of a model that read_onnx_file has found whole, and reads names alone.
class PlaceFinder {
 public:
  explicit PlaceFinder(const std::filesystem::path& path) : path_(path.string()), file_(path, std::ios::binary) {
    if (!file_) throw FileError("cannot read '" + path_ + "': " + std::strerror(errno));
    file_.seekg(0, std::ios::end);
    size_ = static_cast<std::uint64_t>(file_.tellg());
    file_.seekg(0);
  }

  std::vector<Found> find() {
    for_each_field(0, size_, [this](std::uint32_t field, std::uint64_t start, std::uint64_t end) {
      if (field == graph_field) read_graph(start, end);
    });
    return std::move(found_);
  }

 private:
  void read_graph(std::uint64_t start, std::uint64_t end) {
    for_each_field(start, end, [this](std::uint32_t field, std::uint64_t from, std::uint64_t to) {
      if (field == initializer_field) read_tensor(from, to);
    });
  }

  void read_tensor(std::uint64_t start, std::uint64_t end) {
    Found tensor;
    for_each_field(start, end, [&](std::uint32_t field, std::uint64_t from, std::uint64_t to) {
      if (field == name_field) {
        tensor.name.resize(to - from);
        file_.seekg(static_cast<std::streamoff>(from));
        file_.read(tensor.name.data(), static_cast<std::streamsize>(tensor.name.size()));
      } else if (field == raw_field || field == float_data_field) {
        tensor.offset = from;
        tensor.bytes = to - from;
      }
    });
    if (!tensor.name.empty()) found_.push_back(std::move(tensor));
  }

  /// Calls `visit(number, start, end)` for every field that has a length.
  template <class Visit>
  void for_each_field(std::uint64_t start, std::uint64_t end, const Visit& visit) {
    for (std::uint64_t at = start; at < end;) {
      const std::uint64_t tag = varint(at);
      const auto field = static_cast<std::uint32_t>(tag >> 3);
      switch (tag & 7) {
        case 0: varint(at); break;
        case 1: at += 8; break;
        case 5: at += 4; break;
        case 2: {
          const std::uint64_t length = varint(at);
          if (length > end - at) refuse();
          visit(field, at, at + length);
          at += length;
          break;
        }
        default: refuse();
      }
    }
  }

  std::uint64_t varint(std::uint64_t& at) {
    file_.seekg(static_cast<std::streamoff>(at));
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const int part = file_.get();
      if (part < 0) refuse();
      ++at;
      value |= static_cast<std::uint64_t>(part & 0x7f) << shift;
      if (part < 0x80) return value;
    }
    refuse();
  }

  [[noreturn]] void refuse() const { throw FormatError("'" + path_ + "' changed while it was read, or is damaged"); }

  std::string path_;
  std::ifstream file_;
  std::uint64_t size_ = 0;
  std::vector<Found> found_;
};

std::vector<float> transposed(const std::vector<float>& values, std::int64_t rows, std::int64_t columns) {
  std::vector<float> result(values.size());
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      result[static_cast<std::size_t>(c * rows + r)] = values[static_cast<std::size_t>(r * columns + c)];
    }
  }
  return result;
}

}  // namespace

OnnxWeights::OnnxWeights(const std::filesystem::path& path) : path_(path) {
  const OnnxFile file = read_onnx_file(path);
  std::map<std::string, std::string> aliases;  // exporters write equal constants once, and identities for the others
  for (const onnx::NodeProto& node : file.nodes) {
    if (node.op_type() == "Identity" && node.input_size() == 1 && node.output_size() == 1) {
      aliases[node.output(0)] = node.input(0);
    }
  }
  for (const onnx::TensorProto& tensor : file.initializers) {
    const bool outside = tensor.data_location() == onnx::TensorProto::EXTERNAL;
    places_[tensor.name()] = {{tensor.dims().begin(), tensor.dims().end()},
                              outside ? -1 : static_cast<int>(tensor.data_type())};
  }
  for (const Found& found : PlaceFinder(path).find()) {
    const auto place = places_.find(found.name);
    if (place == places_.end()) continue;
    place->second.offset = found.offset;
    place->second.bytes = found.bytes;
  }
  for (const onnx::NodeProto& node : file.nodes) {
    const std::string name = !node.name().empty() ? node.name() : node.output_size() > 0 ? node.output(0) : "";
    Node kept{node.op_type(), {node.input().begin(), node.input().end()}, integer_attribute(node, "transB", 0) != 0};
    for (std::string& input : kept.inputs) {
      for (auto alias = aliases.find(input); alias != aliases.end(); alias = aliases.find(input)) input = alias->second;
    }
    nodes_.emplace(name, std::move(kept));
  }
}

std::string OnnxWeights::where(const std::string& node) const {
  return "'" + path_.string() + "', node '" + node + "'";
}

const OnnxWeights::Place& OnnxWeights::place(const std::string& node, const std::string& constant) const {
  const auto found = places_.find(constant);
  if (found == places_.end()) throw InputError(where(node) + ": its weights '" + constant + "' are computed");
  if (found->second.element < 0) {
    throw InputError(where(node) + ": its weights lie in another file; expected them inside the model");
  }
  if (found->second.element != onnx::TensorProto::FLOAT) {
    throw InputError(where(node) + ": its weights are no 32-bit floats");
  }
  return found->second;
}

std::vector<float> OnnxWeights::numbers(const std::string& node, const std::string& constant) const {
  const Place& tensor = place(node, constant);
  const auto count = static_cast<std::uint64_t>(element_count(tensor.shape));
  if (tensor.bytes != count * sizeof(float)) {
    throw FormatError(where(node) + ": its weights take " + std::to_string(tensor.bytes) + " bytes; expected " +
                      std::to_string(count * sizeof(float)));
  }
  std::vector<float> values(count);
  std::ifstream file(path_, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(tensor.offset));
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(tensor.bytes));
  if (static_cast<std::uint64_t>(file.gcount()) != tensor.bytes) {
    throw FormatError(where(node) + ": the file ends within its weights: it changed while it was read");
  }
  return values;
}

LayerWeights OnnxWeights::read(const std::string& node) const {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) throw InputError(where(node) + ": there is no such node to read weights of");
  const Node& kept = found->second;
  const auto input = [&](std::size_t i) {
    const bool given = i < kept.inputs.size() && !kept.inputs[i].empty();
    return given ? numbers(node, kept.inputs[i]) : std::vector<float>();
  };
  if (kept.operation == "Conv") return {input(1), input(2), {}, {}};
  if (kept.operation == "BatchNormalization") return {input(1), input(2), input(3), input(4)};
  if (kept.operation != "Gemm" && kept.operation != "MatMul") {
    throw InputError(where(node) + ": weights of " + kept.operation + " are not read; expected a convolution, a " +
                     "linear layer or a batch norm");
  }
  LayerWeights weights{input(1), input(2), {}, {}};
  const Place& matrix = place(node, kept.inputs[1]);
  if (!kept.transposed) weights.weight = transposed(weights.weight, matrix.shape[0], matrix.shape[1]);
  return weights;
}

}  // namespace tenshot::nasbench
