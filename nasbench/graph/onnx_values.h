#pragma once

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nasbench/graph/network.h"

namespace tenshot::nasbench {

// What the sources of the ONNX reader share. Needs ONNX's headers: for those sources only.

/// A number that holds integers of 64 bits and reals of double precision exactly.
using Exact = long double;
static_assert(std::numeric_limits<Exact>::digits > 62);

/// A number cut to the range of integers; 0 for what is no number.
std::int64_t whole_number(Exact number);

/// Numbers of a small constant.
struct Numbers {
  std::vector<Exact> values;

  std::size_t size() const { return values.size(); }
  double real(std::size_t i) const { return static_cast<double>(values[i]); }
  std::int64_t whole(std::size_t i) const { return whole_number(values[i]); }
};

/// Most numbers of a constant of that ONNX type that are kept, and computed with: of int64, int32 and truths, as masks
/// and indices are, far more than of others.
constexpr std::int64_t kept_numbers = 1024, kept_integers = std::int64_t{1} << 18;
std::int64_t most_kept(int onnx_type);

struct OnnxValue;
using OnnxValues = std::vector<OnnxValue>;
using OnnxInputs = std::vector<const OnnxValue*>;  ///< of a node; a null pointer for one that is left out

/// A tensor of an ONNX graph: computed by an operator, or constant.
struct OnnxValue {
  bool constant = false;
  Source source;  ///< of a computed one
  Shape shape;
  int element = 0;                    ///< onnx::TensorProto::DataType
  std::optional<Numbers> numbers;     ///< of a constant that is small enough
  Shape stored;                       ///< of a constant: its shape in the file, before it was repeated
  std::optional<ElementType> bytes;   ///< what it is in memory, where the file quantises it
  int bits = 0;                       ///< of each number of a constant in the file, where it is made of another type
  std::vector<StoredTensor> origins;  ///< of a constant: the trained tensors of the file that it is made of
  bool is_missing = false;            ///< an input of a function that its caller leaves out
  bool is_declared = false;           ///< its shape is what the file says, and not what we infer
  bool depends = false;               ///< its shape depends on the data: nobody can say it beforehand
  std::shared_ptr<const OnnxValues> sequence;  ///< its tensors, where it is a sequence
};

/// A constant of which nothing else is known.
OnnxValue unknown_constant(Shape shape, int element);
/// A constant that was trained, not a shape, an index or a scale.
bool is_trained(const OnnxValue& value);
/// Adds the origins of `from` that `to` has not, up to a few hundred.
void add_origins(const OnnxValue& from, std::vector<StoredTensor>& to);

/// The nearest type that specifications have: numbers of 8 bits and fewer count as int8.
ElementType element_type(int onnx_type);
/// How many bits a number of that type takes in a file.
int bit_count(int onnx_type);
bool is_integer(int onnx_type);

/// Numbers of a tensor whose data is in the file; nothing where it is not, or is more than most_kept().
std::optional<Numbers> numbers_of(const onnx::TensorProto& tensor);
onnx::TensorProto tensor_proto(const OnnxValue& value);

const onnx::AttributeProto* attribute(const onnx::NodeProto& node, const char* name);
std::int64_t integer_attribute(const onnx::NodeProto& node, const char* name, std::int64_t otherwise);
double real_attribute(const onnx::NodeProto& node, const char* name, double otherwise);
std::string text_attribute(const onnx::NodeProto& node, const char* name, const char* otherwise);
std::vector<std::int64_t> integers_attribute(const onnx::NodeProto& node, const char* name);

/// Input `i` of a node, or a null pointer where it is left out.
inline const OnnxValue* given(const OnnxInputs& inputs, std::size_t i) {
  return i < inputs.size() ? inputs[i] : nullptr;
}
/// Whether there is an input of that number, and its numbers are known.
bool known(const OnnxInputs& inputs, std::size_t i);
/// The numbers of a known constant as integers.
std::vector<std::int64_t> whole_numbers(const OnnxValue& value);

/// A node with its inputs.
struct OnnxNode {
  const onnx::NodeProto& proto;
  const OnnxInputs& inputs;

  const std::string& type() const { return proto.op_type(); }
  int output_count() const { return proto.output_size(); }

  bool has(std::size_t i) const { return given(inputs, i) != nullptr; }
  /// Whether each of these inputs is there and has so many dimensions.
  bool has_ranks(std::initializer_list<std::pair<std::size_t, std::size_t>> ranks) const;
  /// An input that is there.
  const OnnxValue& input(std::size_t i = 0) const { return *inputs[i]; }
  const Shape& shape(std::size_t i = 0) const { return input(i).shape; }
  int element(std::size_t i = 0) const { return input(i).element; }
  bool known(std::size_t i) const { return nasbench::known(inputs, i); }
  const Numbers& data(std::size_t i = 0) const { return *input(i).numbers; }  ///< of a known input
  /// The numbers of input `i` as integers; none where they are not known.
  std::vector<std::int64_t> whole_numbers(std::size_t i) const;

  const onnx::AttributeProto* attribute(const char* name) const { return nasbench::attribute(proto, name); }
  std::int64_t integer(const char* name, std::int64_t otherwise = 0) const {
    return integer_attribute(proto, name, otherwise);
  }
  bool flag(const std::string& name) const { return integer(name.c_str()) != 0; }
  double real(const char* name, double otherwise) const { return real_attribute(proto, name, otherwise); }
  std::string text(const char* name, const char* otherwise) const { return text_attribute(proto, name, otherwise); }
  std::vector<std::int64_t> integers(const char* name) const { return integers_attribute(proto, name); }
  /// An axis of so many dimensions, counted from the front. Throws FormatError where there is none.
  std::size_t axis(const char* name, std::int64_t otherwise, std::size_t rank) const;
  /// Attribute `name`, or, since later opsets have it there, input `index`; empty where neither is there.
  std::vector<std::int64_t> listed(const char* name, std::size_t index) const;
};

/// What `message` has in a field that some versions of libonnx do not know, each time it stands there.
std::vector<std::string> newer_fields(const google::protobuf::MessageLite& message, int number);
/// The fields of onnx.proto that an overload stands in.
constexpr int overload_of_node = 8, overload_of_function = 13;
/// The name of a function, or of that which a node calls: functions of one domain and name may differ by an overload,
/// which stands in a field of that number.
std::string function_name(const google::protobuf::MessageLite& message, const std::string& domain,
                          const std::string& name, int overload_field);

}  // namespace tenshot::nasbench
