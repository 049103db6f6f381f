#include "nasbench/spaces/specification_json.h"

#include <utility>

#include "nasbench/graph/limits.h"
#include "nasbench/support/text.h"

namespace tenshot::nasbench {

using nlohmann::json;

namespace {

constexpr double most_elements = 1e13;

Shape shape_from(const json& value, const JsonReader& reader, const std::string& place) {
  if (!value.is_array() || value.size() > 16)
    reader.fail_at(place, "a list of dimensions, such as [1, 3, 224, 224]", value);
  Shape shape;
  double elements = 1;
  for (const json& extent : value) {
    shape.push_back(reader.whole_number_of(extent, place, 1));
    elements *= static_cast<double>(shape.back());
  }
  if (elements > most_elements) reader.fail_at(place, "at most 10^13 elements", value);
  return shape;
}

ElementType element_type(const JsonReader& reader) {
  const std::string text = reader.text("type", "float32");
  std::vector<std::string_view> known;
  for (int type = 0; type <= static_cast<int>(ElementType::int16); ++type) {
    known.push_back(name(static_cast<ElementType>(type)));
    if (known.back() == text) return static_cast<ElementType>(type);
  }
  reader.fail("type", "one of " + joined(known), *reader.find("type"));
}

std::vector<Shape> shapes_from(const JsonReader& reader, const char* key) {
  std::vector<Shape> shapes;
  for (const json& shape : reader.array(key)) shapes.push_back(shape_from(shape, reader, reader.full(key)));
  return shapes;
}

Extent extent_from(const JsonReader& reader, const char* key) {
  const json* value = reader.find(key);
  if (value == nullptr) return {};
  if (!value->is_array() || value->size() != 2) reader.fail(key, "[height, width]", *value);
  const Extent extent = {reader.whole_number_of((*value)[0], reader.full(key), 1),
                         reader.whole_number_of((*value)[1], reader.full(key), 1)};
  if (extent.height > widest_window || extent.width > widest_window) reader.fail(key, "at most 65536", *value);
  return extent;
}

}  // namespace

json specification_json(const OperatorSpecification& op) {
  json object = {{"kind", name(op.kind)}, {"inputs", op.inputs}, {"output", op.output}};
  if (!op.name.empty()) object["name"] = op.name;
  for (const auto& [key, extent] :
       {std::pair("kernel", op.kernel), std::pair("stride", op.stride), std::pair("dilation", op.dilation)}) {
    if (extent != Extent{}) object[key] = {extent.height, extent.width};
  }
  if (op.groups != 1) object["groups"] = op.groups;
  if (op.bias) object["bias"] = true;
  if (op.type != ElementType::float32) object["type"] = name(op.type);
  if (op.weight_bits != 0) object["weight_bits"] = op.weight_bits;
  if (!op.constants.empty()) object["constants"] = op.constants;
  return object;
}

OperatorSpecification specification_from_json(const JsonReader& reader) {
  OperatorSpecification op;
  const std::string kind = reader.text("kind", "");
  try {
    op.kind = operator_kind(kind);
  } catch (const InputError& error) {
    throw FormatError(reader.file() + ": " + reader.full("kind") + ": " + excerpt(error.what(), 400));
  }
  op.name = excerpt(reader.text("name", ""), std::string_view::npos);
  op.kernel = extent_from(reader, "kernel");
  op.stride = extent_from(reader, "stride");
  op.dilation = extent_from(reader, "dilation");
  op.groups = reader.whole_number("groups", 1, 1);
  if (const json* bias = reader.find("bias")) {
    if (!bias->is_boolean()) reader.fail("bias", "true or false", *bias);
    op.bias = bias->get<bool>();
  }
  op.inputs = shapes_from(reader, "inputs");
  op.output = shape_from_json(reader, "output", "the shape of what the operator gives");
  op.constants = shapes_from(reader, "constants");
  op.type = element_type(reader);
  op.weight_bits = reader.whole_number("weight_bits", 0, 0);
  if (op.weight_bits > 64) reader.fail("weight_bits", "at most 64", *reader.find("weight_bits"));
  return op;
}

Shape shape_from_json(const JsonReader& reader, const char* key, const char* meaning) {
  return shape_from(reader.require(key, meaning), reader, reader.full(key));
}

}  // namespace tenshot::nasbench
