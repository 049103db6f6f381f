#include "nasbench/graph/onnx_values.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "nasbench/graph/limits.h"

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

constexpr auto as_it_is = [](auto value) { return value; };
constexpr auto from_half = [](auto value) { return half(static_cast<std::uint16_t>(value)); };
constexpr auto from_brain = [](auto value) { return brain_float(static_cast<std::uint16_t>(value)); };

/// Reads numbers of one type: T is what raw data hold, the least significant byte first, as the machines that this runs
/// on do; `field` is what the message holds otherwise.
template <class T, class Field, class Convert>
bool read_as(const TensorProto& tensor, const Field& field, std::size_t count, std::vector<Exact>& out,
             Convert convert) {
  const std::string& raw = tensor.raw_data();
  const bool is_raw = tensor.has_raw_data();
  if (is_raw ? raw.size() != count * sizeof(T) : static_cast<std::size_t>(field.size()) != count) return false;
  for (std::size_t i = 0; i < count; ++i) {
    T value{};
    if (is_raw) std::memcpy(&value, raw.data() + i * sizeof(T), sizeof(T));
    out.push_back(static_cast<Exact>(is_raw ? convert(value) : convert(field.Get(static_cast<int>(i)))));
  }
  return true;
}

bool read_numbers(const TensorProto& t, std::size_t count, std::vector<Exact>& out) {
  switch (t.data_type()) {
    case TensorProto::FLOAT: return read_as<float>(t, t.float_data(), count, out, as_it_is);
    case TensorProto::DOUBLE: return read_as<double>(t, t.double_data(), count, out, as_it_is);
    case TensorProto::FLOAT16: return read_as<std::uint16_t>(t, t.int32_data(), count, out, from_half);
    case TensorProto::BFLOAT16: return read_as<std::uint16_t>(t, t.int32_data(), count, out, from_brain);
    case TensorProto::INT64: return read_as<std::int64_t>(t, t.int64_data(), count, out, as_it_is);
    case TensorProto::INT32: return read_as<std::int32_t>(t, t.int32_data(), count, out, as_it_is);
    case TensorProto::INT8: return read_as<std::int8_t>(t, t.int32_data(), count, out, as_it_is);
    case TensorProto::UINT8:
    case TensorProto::BOOL: return read_as<std::uint8_t>(t, t.int32_data(), count, out, as_it_is);
    default: return false;
  }
}

/// The attribute, if it is of that type: writers of the third protocol leave out a value that is zero or empty.
const onnx::AttributeProto& typed(const onnx::AttributeProto& found, const onnx::NodeProto& node,
                                  onnx::AttributeProto::AttributeType type, bool has_value) {
  if (has_value || found.type() == type) return found;
  reject({"its attribute '", found.name(), "' is of another type than ", node.op_type(), " has"});
}

}  // namespace

std::int64_t whole_number(Exact number) {
  constexpr Exact most = 9.2e18L, end = 0x1p63L;
  if (number >= -end && number < end) return static_cast<std::int64_t>(number);
  return std::isnan(number) ? 0 : static_cast<std::int64_t>(number < 0 ? -most : most);
}

ElementType element_type(int onnx_type) {
  // In the order of TensorProto.DataType: undefined, float, uint8, int8, uint16, int16, int32, int64, string, bool,
  // float16, double, uint32, uint64, complex64, complex128, bfloat16.
  using T = ElementType;
  constexpr std::array<ElementType, TensorProto::BFLOAT16 + 1> types = {
      T::float32, T::float32, T::uint8,   T::int8,  T::int16, T::int16,   T::int32,   T::int64,   T::uint8,
      T::boolean, T::float16, T::float64, T::int32, T::int64, T::float64, T::float64, T::bfloat16};
  if (onnx_type < 0) return T::float32;
  return onnx_type < static_cast<int>(types.size()) ? types[static_cast<std::size_t>(onnx_type)] : T::int8;
}

int bit_count(int onnx_type) {
  constexpr int uint4 = 21, float4 = 23, uint2 = 25, int2 = 26;  // newer than libonnx 1.12
  if (onnx_type == uint2 || onnx_type == int2) return 2;
  return onnx_type >= uint4 && onnx_type <= float4 ? 4 : 8 * byte_size(element_type(onnx_type));
}

bool is_integer(int onnx_type) {
  const ElementType type = element_type(onnx_type);
  return type != ElementType::float32 && type != ElementType::float16 && type != ElementType::bfloat16 &&
         type != ElementType::float64;
}

std::int64_t most_kept(int onnx_type) {
  const ElementType type = element_type(onnx_type);
  const bool counts = type == ElementType::int64 || type == ElementType::int32 || type == ElementType::boolean;
  return counts ? kept_integers : kept_numbers;
}

OnnxValue unknown_constant(Shape shape, int element) {
  OnnxValue value;
  value.constant = true;
  value.shape = value.stored = std::move(shape);
  value.element = element;
  return value;
}

bool is_trained(const OnnxValue& value) {
  return value.constant && most_kept(value.element) == kept_numbers && element_count(value.stored) > 1;
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
  const std::int64_t most = most_kept(tensor.data_type());
  std::int64_t count = 1;
  for (const std::int64_t dimension : tensor.dims()) {
    if (dimension < 0 || dimension > most || (count *= dimension) > most) return std::nullopt;
  }
  Numbers numbers;
  if (!read_numbers(tensor, static_cast<std::size_t>(count), numbers.values)) return std::nullopt;
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

bool known(const OnnxInputs& inputs, std::size_t i) {
  const OnnxValue* input = given(inputs, i);
  return input != nullptr && input->constant && input->numbers.has_value();
}

std::vector<std::int64_t> whole_numbers(const OnnxValue& value) {
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < value.numbers->size(); ++i) numbers.push_back(value.numbers->whole(i));
  return numbers;
}

bool OnnxNode::has_ranks(std::initializer_list<std::pair<std::size_t, std::size_t>> ranks) const {
  return std::all_of(ranks.begin(), ranks.end(),
                     [&](const auto& rank) { return has(rank.first) && shape(rank.first).size() == rank.second; });
}

std::vector<std::int64_t> OnnxNode::whole_numbers(std::size_t i) const {
  return known(i) ? nasbench::whole_numbers(input(i)) : std::vector<std::int64_t>();
}

std::size_t OnnxNode::axis(const char* name, std::int64_t otherwise, std::size_t rank) const {
  return front_axis(integer(name, otherwise), rank);
}

std::vector<std::int64_t> OnnxNode::listed(const char* name, std::size_t index) const {
  return attribute(name) != nullptr ? integers(name) : whole_numbers(index);
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
