#include "nasbench/graph/onnx_file.h"

#include <algorithm>
#include <fstream>

#include "nasbench/graph/limits.h"
#include "nasbench/graph/network_reading.h"
#include "nasbench/support/error.h"
#include "nasbench/support/file_kind.h"
#include "nasbench/support/protobuf.h"

namespace tenshot::nasbench {
namespace {
constexpr std::uint64_t data_limit = 4096;  // of a tensor that is kept whole: shapes and axes are smaller
constexpr int depth_limit = 16;             // of graphs inside nodes inside graphs

// Wire types of protocol buffers (protobuf.dev, "Encoding").
constexpr std::uint32_t varint_type = 0, fixed64_type = 1, bytes_type = 2, fixed32_type = 5;

/// Messages of onnx.proto that can hold a large tensor, and all others.
enum class Message { model, graph, node, attribute, tensor, sparse, function, other };

Message child_of(Message message, std::uint32_t field) {
  using M = Message;
  static const std::map<std::pair<Message, std::uint32_t>, Message> children = {
      {{M::model, 7}, M::graph},      {{M::model, 25}, M::function},   {{M::function, 7}, M::node},
      {{M::graph, 1}, M::node},       {{M::graph, 5}, M::tensor},      {{M::graph, 15}, M::sparse},
      {{M::sparse, 1}, M::tensor},    {{M::sparse, 2}, M::tensor},     {{M::node, 5}, M::attribute},
      {{M::attribute, 5}, M::tensor}, {{M::attribute, 10}, M::tensor}, {{M::attribute, 6}, M::graph},
      {{M::attribute, 11}, M::graph}, {{M::attribute, 22}, M::sparse}};
  const auto child = children.find({message, field});
  return child == children.end() ? Message::other : child->second;
}

/// Fields that nothing here reads: numbers of large tensors, documentation, training.
bool is_passed_over(Message message, std::uint32_t field) {
  switch (message) {
    case Message::model: return field == 6 || field == 14 || field == 20;
    case Message::graph: return field == 10 || field == 14 || field == 16;
    case Message::node: return field == 6 || field > 8;
    case Message::attribute: return field == 13 || field == 23;
    case Message::tensor: return (field >= 4 && field <= 7) || (field >= 9 && field <= 13);
    default: return false;
  }
}

/// The file from front to back; parts can be left out.
class ByteReader {
 public:
  explicit ByteReader(const std::filesystem::path& path)
      : path_(path.string()), size_(open_network_file(file_, path, "ONNX file")) {}

  std::uint64_t position() const { return position_; }
  std::uint64_t size() const { return size_; }

  [[noreturn]] void refuse(const std::string& why) const { reject({"'", path_, "', byte ", position_, ": ", why}); }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto part = static_cast<std::uint8_t>(bytes(1).front());
      value |= static_cast<std::uint64_t>(part & 0x7f) << shift;
      if (part < 0x80) return value;
    }
    refuse("no ONNX model: a number takes more than ten bytes");
  }

  std::string bytes(std::uint64_t count) {
    std::string bytes(count, '\0');
    const std::streamsize found = file_.rdbuf()->sgetn(bytes.data(), static_cast<std::streamsize>(count));
    position_ += static_cast<std::uint64_t>(found);
    if (bytes.size() != static_cast<std::uint64_t>(found)) refuse("the file is cut short: it ends within the model");
    return bytes;
  }

  void skip(std::uint64_t count) {
    position_ += count;
    file_.rdbuf()->pubseekpos(static_cast<std::streamoff>(position_), std::ios::in);
  }

 private:
  std::string path_;
  std::ifstream file_;
  std::uint64_t size_, position_ = 0;
};

struct Field {
  std::uint32_t number;
  std::uint32_t type;
  std::uint64_t length;  ///< of bytes_type
};

class ModelReader {
 public:
  explicit ModelReader(const std::filesystem::path& path) : path_(path.string()), bytes_(path) {}

  OnnxFile read() {
    read_fields(bytes_.size(), [this](const Field& field) {
      if (field.number == 7 && field.type == bytes_type) {
        if (has_graph_) bytes_.refuse("no ONNX model: a second graph");
        has_graph_ = true;
        read_graph(bytes_.position() + field.length);
      } else if (field.number == 8 && field.type == bytes_type) {
        const auto opset = parsed<onnx::OperatorSetIdProto>(Message::other, field);
        file_.opsets[opset.domain() == "ai.onnx" ? "" : opset.domain()] = opset.version();
      } else if (field.number == 25 && field.type == bytes_type) {
        file_.functions.push_back(parsed<onnx::FunctionProto>(Message::function, field));
      } else {
        pass_over(field);
      }
    });
    if (!has_graph_) reject({"'", path_, "' is no ONNX model: it has no graph"});
    return std::move(file_);
  }

 private:
  void read_graph(std::uint64_t end) {
    read_fields(end, [this](const Field& field) {
      if (field.type != bytes_type) return pass_over(field);
      switch (field.number) {
        case 1:
          if (file_.nodes.size() == onnx_node_limit) {
            bytes_.refuse("the model has more than " + std::to_string(onnx_node_limit) + " nodes");
          }
          file_.nodes.push_back(parsed<onnx::NodeProto>(Message::node, field));
          break;
        case 5:
          data_ = {};
          file_.initializers.push_back(parsed<onnx::TensorProto>(Message::tensor, field));
          file_.left_out.push_back(data_);
          break;
        case 15:
          file_.initializers.push_back(as_dense(parsed<onnx::SparseTensorProto>(Message::sparse, field)));
          file_.left_out.emplace_back();
          break;
        case 11: file_.inputs.push_back(parsed<onnx::ValueInfoProto>(Message::other, field)); break;
        case 12: file_.outputs.push_back(parsed<onnx::ValueInfoProto>(Message::other, field)); break;
        case 13: file_.values.push_back(parsed<onnx::ValueInfoProto>(Message::other, field)); break;
        default: pass_over(field);
      }
    });
  }

  template <class Visit>
  void read_fields(std::uint64_t end, const Visit& visit) {
    while (bytes_.position() < end) {
      visit(read_field(end));
      if (bytes_.position() > end) bytes_.refuse("no ONNX model: a field reaches beyond its message");
    }
  }

  Field read_field(std::uint64_t end) {
    const std::uint64_t tag = bytes_.varint();
    Field field{static_cast<std::uint32_t>(tag >> 3), static_cast<std::uint32_t>(tag & 7), 0};
    if (tag >> 32 != 0 || field.number == 0)
      bytes_.refuse("no ONNX model: there is no field of tag " + std::to_string(tag));
    if (field.type == bytes_type) {
      field.length = bytes_.varint();
      const std::uint64_t here = bytes_.position();
      if (here > end || field.length > end - here) {
        const bool whole_file = end == bytes_.size() || field.length > bytes_.size() - std::min(here, bytes_.size());
        bytes_.refuse(whole_file ? "the file is cut short, or no ONNX model: " + std::to_string(field.length) +
                                       " bytes should follow, " + std::to_string(end - std::min(here, end)) + " do"
                                 : "no ONNX model: a field reaches beyond its message");
      }
    } else if (field.type != varint_type && field.type != fixed64_type && field.type != fixed32_type) {
      bytes_.refuse("no ONNX model: there is no wire type " + std::to_string(field.type));
    }
    return field;
  }

  void pass_over(const Field& field) {
    if (field.type == varint_type) {
      bytes_.varint();
    } else {
      bytes_.skip(size_of(field));
    }
  }

  static std::uint64_t size_of(const Field& field) {
    return field.type == bytes_type ? field.length : field.type == fixed64_type ? 8 : 4;
  }

  template <class Proto>
  Proto parsed(Message message, const Field& field) {
    const std::uint64_t start = bytes_.position();
    std::string content;
    copy_message(message, field.length, 0, content);
    Proto proto;
    if (!proto.ParseFromString(content)) {
      reject({"'", path_, "', bytes ", start, " to ", start + field.length, ": damaged, or no ONNX model"});
    }
    return proto;
  }

  void copy_message(Message message, std::uint64_t length, int depth, std::string& out) {
    if (length <= data_limit || message == Message::other) return keep(length, out);
    if (depth > 4 * depth_limit) bytes_.refuse("graphs are nested more than " + std::to_string(depth_limit) + " deep");
    const std::uint64_t end = bytes_.position() + length;
    while (bytes_.position() < end) {
      const Field field = read_field(end);
      if (is_passed_over(message, field.number)) {
        constexpr std::uint32_t float_data = 4, raw_data = 9;
        const bool is_data = message == Message::tensor && (field.number == float_data || field.number == raw_data);
        if (is_data && field.type == bytes_type) data_ = {bytes_.position(), field.length};
        pass_over(field);
        continue;
      }
      append_varint(out, (std::uint64_t{field.number} << 3) | field.type);
      if (field.type == varint_type) {
        append_varint(out, bytes_.varint());
      } else if (field.type == bytes_type) {
        std::string content;
        copy_message(child_of(message, field.number), field.length, depth + 1, content);
        append_varint(out, content.size());
        out += content;
      } else {
        keep(size_of(field), out);
      }
    }
    if (bytes_.position() > end) bytes_.refuse("no ONNX model: a field reaches beyond its message");
  }

  void keep(std::uint64_t length, std::string& out) {
    kept_ += length;
    if (kept_ > onnx_byte_limit) {
      bytes_.refuse("the model has more than " + std::to_string(onnx_byte_limit >> 20) + " MiB besides its weights");
    }
    out += bytes_.bytes(length);
  }

  std::string path_;
  ByteReader bytes_;
  OnnxFile file_;
  OnnxData data_;  ///< of the last tensor whose numbers were passed over
  bool has_graph_ = false;
  std::uint64_t kept_ = 0;
};

}  // namespace

onnx::TensorProto as_dense(onnx::SparseTensorProto sparse) {
  *sparse.mutable_values()->mutable_dims() = sparse.dims();
  return sparse.values();
}

OnnxFile read_onnx_file(const std::filesystem::path& path) {
  try {
    return ModelReader(path).read();
  } catch (const FormatError&) {
    if (const auto other = other_kind_message(path, "an ONNX model")) throw FormatError(*other);
    throw;
  }
}

}  // namespace tenshot::nasbench
