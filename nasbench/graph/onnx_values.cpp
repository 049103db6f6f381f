#include "nasbench/graph/onnx_values.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "nasbench/support/error.h"

namespace tenshot::nasbench {
namespace {

using onnx::TensorProto;

/// IEEE 754 half precision.
double half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double size = exponent == 31  ? (fraction == 0 ? std::numeric_limits<double>::infinity() : std::nan(""))
                      : exponent == 0 ? std::ldexp(fraction, -24)
                                      : std::ldexp(fraction + 1024, exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

double brain_float(std::uint16_t bits) {
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
  float value = 0;
  std::memcpy(&value, &wide, sizeof value);
  return static_cast<double>(value);
}

/// ONNX stores raw data with the least significant byte first, as the machines that this runs on do.
template <class T, class Out, class Convert>
bool read_raw(const std::string& raw, std::size_t count, std::vector<Out>& out, Convert convert) {
  if (raw.size() != count * sizeof(T)) return false;
  for (std::size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, raw.data() + i * sizeof(T), sizeof(T));
    out.push_back(static_cast<Out>(convert(value)));
  }
  return true;
}

template <class Field, class Out, class Convert>
bool read_field(const Field& field, std::size_t count, std::vector<Out>& out, Convert convert) {
  if (static_cast<std::size_t>(field.size()) != count) return false;
  for (const auto value : field) out.push_back(static_cast<Out>(convert(value)));
  return true;
}

constexpr auto as_it_is = [](auto value) { return value; };
constexpr auto from_half = [](auto value) { return half(static_cast<std::uint16_t>(value)); };
constexpr auto from_brain = [](auto value) { return brain_float(static_cast<std::uint16_t>(value)); };

/// Reads numbers of one type: T is what raw data hold, `field` what the message holds otherwise.
template <class T, class Field, class Out, class Convert>
bool read_as(const TensorProto& tensor, const Field& field, std::size_t count, std::vector<Out>& out, Convert convert) {
  return tensor.has_raw_data() ? read_raw<T>(tensor.raw_data(), count, out, convert)
                               : read_field(field, count, out, convert);
}

bool read_numbers(const TensorProto& t, std::size_t count, Numbers& numbers) {
  std::vector<std::int64_t>& integers = numbers.integers;
  std::vector<double>& reals = numbers.reals;
  switch (t.data_type()) {
    case TensorProto::FLOAT: return read_as<float>(t, t.float_data(), count, reals, as_it_is);
    case TensorProto::DOUBLE: return read_as<double>(t, t.double_data(), count, reals, as_it_is);
    case TensorProto::FLOAT16: return read_as<std::uint16_t>(t, t.int32_data(), count, reals, from_half);
    case TensorProto::BFLOAT16: return read_as<std::uint16_t>(t, t.int32_data(), count, reals, from_brain);
    case TensorProto::INT64: return read_as<std::int64_t>(t, t.int64_data(), count, integers, as_it_is);
    case TensorProto::INT32: return read_as<std::int32_t>(t, t.int32_data(), count, integers, as_it_is);
    case TensorProto::INT8: return read_as<std::int8_t>(t, t.int32_data(), count, integers, as_it_is);
    case TensorProto::UINT8:
    case TensorProto::BOOL: return read_as<std::uint8_t>(t, t.int32_data(), count, integers, as_it_is);
    default: return false;
  }
}

/// The attribute, if it is of that type: writers of the third protocol leave out a value that is zero or empty.
const onnx::AttributeProto& typed(const onnx::AttributeProto& found, const onnx::NodeProto& node,
                                  onnx::AttributeProto::AttributeType type, bool has_value) {
  if (has_value || found.type() == type) return found;
  throw FormatError("its attribute '" + found.name() + "' is of another type than " + node.op_type() + " has");
}

}  // namespace

std::int64_t whole_number(double real) {
  constexpr double most = 9.2e18;
  return std::isnan(real) ? 0 : static_cast<std::int64_t>(std::min(most, std::max(-most, real)));
}

std::int64_t Numbers::whole(std::size_t i) const { return integer ? integers[i] : whole_number(reals[i]); }

ElementType element_type(int onnx_type) {
  switch (onnx_type) {
    case TensorProto::FLOAT16: return ElementType::float16;
    case TensorProto::BFLOAT16: return ElementType::bfloat16;
    case TensorProto::DOUBLE:
    case TensorProto::COMPLEX64:
    case TensorProto::COMPLEX128: return ElementType::float64;
    case TensorProto::INT8: return ElementType::int8;
    case TensorProto::UINT8:
    case TensorProto::STRING: return ElementType::uint8;
    case TensorProto::INT16:
    case TensorProto::UINT16: return ElementType::int16;
    case TensorProto::INT32:
    case TensorProto::UINT32: return ElementType::int32;
    case TensorProto::INT64:
    case TensorProto::UINT64: return ElementType::int64;
    case TensorProto::BOOL: return ElementType::boolean;
    default: return onnx_type > TensorProto::BFLOAT16 ? ElementType::int8 : ElementType::float32;
  }
}

int bit_count(int onnx_type) {
  constexpr int uint4 = 21, float4 = 23, uint2 = 25, int2 = 26;  // newer than libonnx 1.12
  if (onnx_type == uint2 || onnx_type == int2) return 2;
  return onnx_type >= uint4 && onnx_type <= float4 ? 4 : 8 * byte_size(element_type(onnx_type));
}

bool is_integer(int onnx_type) {
  switch (element_type(onnx_type)) {
    case ElementType::float32:
    case ElementType::float16:
    case ElementType::bfloat16:
    case ElementType::float64: return false;
    default: return true;
  }
}

bool is_trained(const OnnxValue& value) {
  const ElementType type = element_type(value.element);
  const bool number = type != ElementType::int64 && type != ElementType::int32 && type != ElementType::boolean;
  return value.constant && number && element_count(value.stored) > 1;
}

void add_origins(const OnnxValue& from, std::vector<StoredTensor>& to) {
  constexpr std::size_t most = 256;
  for (const StoredTensor& tensor : from.origins) {
    const bool known = std::any_of(to.begin(), to.end(), [&](const StoredTensor& t) { return t.name == tensor.name; });
    if (!known && to.size() < most) to.push_back(tensor);
  }
}

std::optional<Numbers> numbers_of(const TensorProto& tensor) {
  if (tensor.data_location() == TensorProto::EXTERNAL) return std::nullopt;
  std::int64_t count = 1;
  for (const std::int64_t dimension : tensor.dims()) {
    if (dimension < 0 || dimension > kept_numbers) return std::nullopt;
    count *= dimension;
    if (count > kept_numbers) return std::nullopt;
  }
  Numbers numbers;
  numbers.integer = is_integer(tensor.data_type());
  if (!read_numbers(tensor, static_cast<std::size_t>(count), numbers)) return std::nullopt;
  return numbers;
}

TensorProto tensor_proto(const OnnxValue& value) {
  TensorProto tensor;
  tensor.set_data_type(value.element);
  for (const std::int64_t dimension : value.shape) tensor.add_dims(dimension);
  if (!value.numbers) return tensor;
  const Numbers& numbers = *value.numbers;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    switch (value.element) {
      case TensorProto::INT64: tensor.add_int64_data(numbers.whole(i)); break;
      case TensorProto::DOUBLE: tensor.add_double_data(numbers.real(i)); break;
      case TensorProto::FLOAT: tensor.add_float_data(static_cast<float>(numbers.real(i))); break;
      default: tensor.add_int32_data(static_cast<std::int32_t>(numbers.whole(i)));
    }
  }
  return tensor;
}

onnx::TypeProto type_proto(const OnnxValue& value) {
  onnx::TypeProto type;
  type.mutable_tensor_type()->set_elem_type(value.element);
  onnx::TensorShapeProto& shape = *type.mutable_tensor_type()->mutable_shape();
  for (const std::int64_t dimension : value.shape) shape.add_dim()->set_dim_value(dimension);
  return type;
}

const onnx::AttributeProto* attribute(const onnx::NodeProto& node, const char* name) {
  for (const onnx::AttributeProto& candidate : node.attribute()) {
    if (candidate.name() == name) return &candidate;
  }
  return nullptr;
}

std::int64_t integer_attribute(const onnx::NodeProto& node, const char* name, std::int64_t otherwise) {
  const onnx::AttributeProto* found = attribute(node, name);
  return found == nullptr ? otherwise : typed(*found, node, onnx::AttributeProto::INT, found->has_i()).i();
}

double real_attribute(const onnx::NodeProto& node, const char* name, double otherwise) {
  const onnx::AttributeProto* found = attribute(node, name);
  if (found == nullptr) return otherwise;
  return static_cast<double>(typed(*found, node, onnx::AttributeProto::FLOAT, found->has_f()).f());
}

std::string text_attribute(const onnx::NodeProto& node, const char* name, const char* otherwise) {
  const onnx::AttributeProto* found = attribute(node, name);
  return found == nullptr ? otherwise : typed(*found, node, onnx::AttributeProto::STRING, found->has_s()).s();
}

std::vector<std::int64_t> integers_attribute(const onnx::NodeProto& node, const char* name) {
  const onnx::AttributeProto* found = attribute(node, name);
  if (found == nullptr) return {};
  return {found->ints().begin(), found->ints().end()};
}

std::vector<std::string> newer_fields(const google::protobuf::MessageLite& message, int number) {
  using google::protobuf::internal::WireFormatLite;
  const std::string bytes = message.SerializePartialAsString();
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  std::vector<std::string> found;
  while (const std::uint32_t tag = stream.ReadTag()) {
    const bool has_bytes = WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
    if (WireFormatLite::GetTagFieldNumber(tag) != number || !has_bytes) {
      if (!WireFormatLite::SkipField(&stream, tag)) break;
    } else if (!WireFormatLite::ReadBytes(&stream, &found.emplace_back())) {
      break;
    }
  }
  return found;
}

std::string function_name(const google::protobuf::MessageLite& message, const std::string& domain,
                          const std::string& name, int overload_field) {
  std::string full = domain + " " + name;
  for (const std::string& overload : newer_fields(message, overload_field)) {
    if (!overload.empty()) full += " " + overload;
  }
  return full;
}

}  // namespace tenshot::nasbench
