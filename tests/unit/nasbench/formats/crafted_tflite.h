#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "nasbench/formats/network_file.h"
#include "nasbench/support/files.h"
#include "nasbench/support/temporaries.h"
#include "tests/unit/nasbench/graph/network_text.h"

// TensorFlow Lite files that tests build by hand.

namespace tenshot::nasbench {

/// A part of a FlatBuffer: a table, a vector of parts, or bytes with their number of elements in front.
struct FlatPart {
  using Field = std::variant<std::string, std::shared_ptr<FlatPart>>;  ///< a number's bytes, or another part
  std::map<int, Field> fields;                                         ///< of a table
  std::vector<std::shared_ptr<FlatPart>> parts;                        ///< of a vector of tables
  std::string bytes;                                                   ///< of a vector of numbers, or a text
  std::uint32_t count = 0;
  enum { table, tables, numbers } kind = table;
};

template <class T>
std::string little_endian(T value) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(T); ++i) bytes += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i));
  return bytes;
}

template <class T>
std::shared_ptr<FlatPart> flat_numbers(const std::vector<T>& values) {
  auto part = std::make_shared<FlatPart>();
  part->kind = FlatPart::numbers;
  for (const T value : values) part->bytes += little_endian(value);
  part->count = static_cast<std::uint32_t>(values.size());
  return part;
}

inline std::shared_ptr<FlatPart> flat_text(const std::string& text) {
  auto part = flat_numbers(std::vector<char>(text.begin(), text.end()));
  part->bytes += '\0';
  return part;
}

inline std::shared_ptr<FlatPart> flat_tables(std::vector<std::shared_ptr<FlatPart>> parts) {
  auto part = std::make_shared<FlatPart>();
  part->kind = FlatPart::tables;
  part->parts = std::move(parts);
  return part;
}

inline std::shared_ptr<FlatPart> flat_table(std::map<int, FlatPart::Field> fields) {
  auto part = std::make_shared<FlatPart>();
  part->fields = std::move(fields);
  return part;
}

/// Writes parts behind one another, each once: what an offset leads to stands behind it. Only a vector's offsets may
/// lead to one part several times.
class FlatWriter {
 public:
  std::string file(const FlatPart& root, const std::string& identifier) {
    bytes_ = std::string(4, '\0') + identifier;
    patch(0, write(root));
    return bytes_;
  }

 private:
  void align(std::size_t to) {
    while (bytes_.size() % to != 0) bytes_ += '\0';
  }

  void patch(std::size_t place, std::size_t target) {
    bytes_.replace(place, 4, little_endian(static_cast<std::uint32_t>(target - place)));
  }

  std::size_t write(const FlatPart& part) {
    align(8);
    if (part.kind == FlatPart::table) return write_table(part);
    const std::size_t start = bytes_.size();
    if (part.kind == FlatPart::numbers) {
      bytes_ += little_endian(part.count) + part.bytes;
      return start;
    }
    bytes_ += little_endian(static_cast<std::uint32_t>(part.parts.size())) + std::string(4 * part.parts.size(), '\0');
    std::map<const FlatPart*, std::size_t> written;
    for (std::size_t i = 0; i < part.parts.size(); ++i) {
      const auto [place, is_new] = written.try_emplace(part.parts[i].get());
      if (is_new) place->second = write(*part.parts[i]);
      patch(start + 4 + 4 * i, place->second);
    }
    return start;
  }

  std::size_t write_table(const FlatPart& part) {
    const std::size_t entries = part.fields.empty() ? 0 : static_cast<std::size_t>(part.fields.rbegin()->first) + 1;
    std::vector<std::uint16_t> offsets(entries, 0);
    std::string body(4, '\0');
    for (const auto& [number, field] : part.fields) {
      const std::string* scalar = std::get_if<std::string>(&field);
      const std::size_t size = scalar == nullptr ? 4 : scalar->size();
      while (body.size() % size != 0) body += '\0';
      offsets[static_cast<std::size_t>(number)] = static_cast<std::uint16_t>(body.size());
      body += scalar == nullptr ? std::string(4, '\0') : *scalar;
    }
    const std::size_t vtable = bytes_.size();
    bytes_ += little_endian(static_cast<std::uint16_t>(4 + 2 * entries));
    bytes_ += little_endian(static_cast<std::uint16_t>(body.size()));
    for (const std::uint16_t offset : offsets) bytes_ += little_endian(offset);
    align(8);
    const std::size_t start = bytes_.size();
    body.replace(0, 4, little_endian(static_cast<std::int32_t>(start - vtable)));
    bytes_ += body;
    for (const auto& [number, field] : part.fields) {
      if (const auto* child = std::get_if<std::shared_ptr<FlatPart>>(&field)) {
        patch(start + offsets[static_cast<std::size_t>(number)], write(**child));
      }
    }
    return start;
  }

  std::string bytes_;
};

/// A TensorFlow Lite model of one subgraph, operator by operator.
class TfliteModel {
 public:
  enum Type : std::int8_t {
    float32 = 0,
    float16 = 1,
    int32 = 2,
    uint8 = 3,
    int64 = 4,
    int8 = 9,
    int4 = 17,
    int2 = 19,
    uint4 = 20
  };

  int tensor(const std::string& name, const std::vector<std::int32_t>& shape, Type type = float32,
             const std::vector<std::int32_t>& signature = {}) {
    return add(name, shape, type, 0, signature);
  }

  /// What an operator may write, and keeps for the next run.
  int state(const std::string& name, const std::vector<std::int32_t>& shape) {
    const int index = add(name, shape, float32, 0, {});
    tensors_.back()->fields[5] = small(1);
    return index;
  }

  /// Weights: zeros.
  int weights(const std::string& name, const std::vector<std::int32_t>& shape, Type type = float32) {
    std::size_t bytes = type == float32 || type == int32 ? 4 : type == float16 ? 2 : 1;
    for (const std::int32_t dimension : shape) bytes *= static_cast<std::size_t>(dimension);
    return add(name, shape, type, buffer(std::vector<char>(bytes, '\0')), {});
  }

  int integers(const std::string& name, const std::vector<std::int32_t>& values,
               const std::vector<std::int32_t>& shape = {}) {
    std::string bytes;
    for (const std::int32_t value : values) bytes += little_endian(value);
    return add(name, shape.empty() ? std::vector<std::int32_t>{static_cast<std::int32_t>(values.size())} : shape, int32,
               buffer({bytes.begin(), bytes.end()}), {});
  }

  /// A constant of no dimensions.
  int number(const std::string& name, std::int32_t value) {
    const std::string bytes = little_endian(value);
    return add(name, {}, int32, buffer({bytes.begin(), bytes.end()}), {});
  }

  /// A constant of int32 of which the file has so many bytes.
  int cut_short(const std::string& name, const std::vector<std::int32_t>& shape, std::size_t bytes) {
    return add(name, shape, int32, buffer(std::vector<char>(bytes, '\0')), {});
  }

  /// `options` are fields of its BuiltinOptions; those of a custom operator are so many bytes.
  void node(int code, const std::vector<std::int32_t>& inputs, const std::vector<std::int32_t>& outputs,
            std::map<int, FlatPart::Field> options = {}, const std::string& custom = "", std::size_t custom_bytes = 0) {
    std::map<int, FlatPart::Field> kind = {{0, little_endian(static_cast<std::int8_t>(code < 127 ? code : 127))},
                                           {3, little_endian(static_cast<std::int32_t>(code))}};
    if (!custom.empty()) kind[1] = flat_text(custom);
    codes_.push_back(flat_table(std::move(kind)));
    operators_.push_back(flat_table({{0, little_endian(static_cast<std::uint32_t>(codes_.size() - 1))},
                                     {1, flat_numbers(inputs)},
                                     {2, flat_numbers(outputs)},
                                     {4, flat_table(options)},
                                     {5, flat_numbers(std::vector<char>(custom_bytes, 'x'))},
                                     {12, flat_table(std::move(options))}}));
  }

  /// A further subgraph, which an operator may run: the first is number 1. `make` adds its operators and returns its
  /// inputs and outputs.
  using Ends = std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>>;
  void subgraph(const std::function<Ends(TfliteModel&)>& make) {
    TfliteModel inner;
    inner.codes_ = codes_;
    inner.buffers_ = buffers_;
    const auto [inputs, outputs] = make(inner);
    codes_ = inner.codes_;
    buffers_ = inner.buffers_;
    graphs_.push_back(flat_table({{0, flat_tables(inner.tensors_)},
                                  {1, flat_numbers(inputs)},
                                  {2, flat_numbers(outputs)},
                                  {3, flat_tables(inner.operators_)}}));
  }

  /// A further subgraph of one operator that has options `options`: it takes a tensor of shape `in` and weights.
  void body(int code, const std::vector<std::int32_t>& in, const std::vector<std::int32_t>& weights_shape,
            const std::vector<std::int32_t>& out, const std::map<int, FlatPart::Field>& options = {}) {
    subgraph([&](TfliteModel& inner) {
      const int x = inner.tensor("inner_x", in), w = inner.weights("inner_w", weights_shape);
      const int y = inner.tensor("inner_y", out);
      inner.node(code, {x, w, -1}, {y}, options);
      return Ends{{x}, {y}};
    });
  }

  /// A further subgraph, number 1, that calls itself.
  void self_calling_body(const std::vector<std::int32_t>& shape) {
    subgraph([&](TfliteModel& inner) {
      const int x = inner.tensor("inner_x", shape), y = inner.tensor("inner_y", shape);
      inner.node(31, {x}, {y}, {{0, whole(1)}});
      return Ends{{x}, {y}};
    });
  }

  /// With so many more tensors of one shape, which stands in the file once, and so many signatures.
  std::string bytes(const std::vector<std::int32_t>& inputs, const std::vector<std::int32_t>& outputs,
                    const std::shared_ptr<FlatPart>& shape = nullptr, std::size_t more = 0,
                    std::size_t signatures = 0) const {
    std::vector<std::shared_ptr<FlatPart>> tensors = tensors_;
    if (more > 0) tensors.insert(tensors.end(), more, flat_table({{0, shape}}));
    const auto graph = flat_table({{0, flat_tables(tensors)},
                                   {1, flat_numbers(inputs)},
                                   {2, flat_numbers(outputs)},
                                   {3, flat_tables(operators_)}});
    std::vector<std::shared_ptr<FlatPart>> graphs = {graph};
    graphs.insert(graphs.end(), graphs_.begin(), graphs_.end());
    const auto model = flat_table({{0, little_endian(std::uint32_t{3})},
                                   {1, flat_tables(codes_)},
                                   {2, flat_tables(graphs)},
                                   {4, flat_tables(buffers_)},
                                   {7, flat_tables({signatures, flat_table({{2, flat_text("run")}})})}});
    return FlatWriter().file(*model, "TFL3");
  }

  static std::string whole(std::int32_t value) { return little_endian(value); }
  static std::string small(int value) { return little_endian(static_cast<std::int8_t>(value)); }

 private:
  std::uint32_t buffer(const std::vector<char>& data) {
    buffers_.push_back(flat_table({{0, flat_numbers(data)}}));
    return static_cast<std::uint32_t>(buffers_.size() - 1);
  }

  int add(const std::string& name, const std::vector<std::int32_t>& shape, Type type, std::uint32_t buffer,
          const std::vector<std::int32_t>& signature) {
    std::map<int, FlatPart::Field> fields = {{0, flat_numbers(shape)},
                                             {1, little_endian(static_cast<std::int8_t>(type))},
                                             {2, little_endian(buffer)},
                                             {3, flat_text(name)}};
    if (!signature.empty()) fields[7] = flat_numbers(signature);
    tensors_.push_back(flat_table(std::move(fields)));
    return static_cast<int>(tensors_.size() - 1);
  }

  std::vector<std::shared_ptr<FlatPart>> tensors_, operators_, codes_, graphs_, buffers_ = {flat_table({})};
};

inline Network read_tflite_bytes(const std::string& bytes, const NetworkReadOptions& options = {}) {
  const TemporaryFolder folder;
  write_file_quickly(folder.path() / "model.tflite", bytes);
  return read_tflite(folder.path() / "model.tflite", options);
}

inline std::string tflite_refusal(const std::string& bytes, const NetworkReadOptions& options = {}) {
  return refusal_of("model.tflite", [&] { read_tflite_bytes(bytes, options); });
}

/// Options of a convolution: padding (0 SAME, 1 VALID), strides, activation.
inline std::map<int, FlatPart::Field> convolution_options(int padding, int stride, int activation,
                                                          bool depthwise = false) {
  return {{0, TfliteModel::small(padding)},
          {1, TfliteModel::whole(stride)},
          {2, TfliteModel::whole(stride)},
          {depthwise ? 4 : 3, TfliteModel::small(activation)}};
}

}  // namespace tenshot::nasbench
