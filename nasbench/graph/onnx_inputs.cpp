#include <algorithm>

#include "nasbench/graph/limits.h"
#include "nasbench/graph/onnx_folding.h"
#include "nasbench/graph/onnx_graph_reader.h"
#include "nasbench/graph/onnx_operators.h"
#include "nasbench/graph/onnx_weight_inputs.h"
#include "nasbench/support/error.h"
#include "nasbench/support/words.h"

namespace tenshot::nasbench {
namespace {

/// A first dimension of that name is no batch.
bool is_called_time(const std::string& symbol) {
  constexpr std::array<std::string_view, 4> parts = {"time", "seq", "frame", "length"};
  return symbol.find("batch") == std::string::npos &&
         std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return symbol.find(part) != std::string::npos; });
}

/// The type's name, "uint16", where element_type() is only like it; empty where it is the same.
std::string unlike_type(int onnx_type) {
  for (const auto type : {onnx::TensorProto::UINT16, onnx::TensorProto::STRING, onnx::TensorProto::UINT32,
                          onnx::TensorProto::UINT64, onnx::TensorProto::COMPLEX64, onnx::TensorProto::COMPLEX128}) {
    if (onnx_type == type) return lower_case(onnx::TensorProto::DataType_Name(type));
  }
  return onnx_type > onnx::TensorProto::BFLOAT16 ? "type " + std::to_string(onnx_type) : "";
}

/// Whether the file leaves no more open than a batch, and is of another shape beside it.
bool fixes_another(const onnx::ValueInfoProto& input, const Shape& given) {
  const auto& dimensions = input.type().tensor_type().shape().dim();
  if (!is_fixed(input, 1) || dimensions.size() != static_cast<int>(given.size())) return false;
  return !std::equal(dimensions.begin() + 1, dimensions.end(), given.begin() + 1,
                     [](const auto& dimension, std::int64_t size) { return dimension.dim_value() == size; });
}

}  // namespace

void OnnxGraphReader::read_constant(const onnx::TensorProto& tensor) {
  try {
    scopes_.set(tensor.name(), constant(tensor, tensor.name()));
  } catch (const Error& error) {
    reject({"constant '", tensor.name(), "': ", error.what()});
  }
}

OnnxValue OnnxGraphReader::constant(const onnx::TensorProto& tensor, const std::string& name) {
  OnnxValue value = unknown_constant({tensor.dims().begin(), tensor.dims().end()}, tensor.data_type());
  require_tensor_size(value.shape, true);
  remark_on_type(value.element);
  value.numbers = numbers_of(tensor);
  if (!can_afford(value)) value.numbers.reset();
  if (is_trained(value)) {
    value.origins = {{origin_ + name, element_count(value.shape)}};
    trained_.emplace(origin_ + name, element_count(value.shape));
  }
  return value;
}

OnnxValue OnnxGraphReader::stored_value(const onnx::NodeProto& node) {
  const std::string name = node.output_size() > 0 ? node.output(0) : node.name();
  for (const onnx::AttributeProto& value : node.attribute()) {
    if (value.has_t()) return constant(value.t(), name);
    if (value.has_sparse_tensor()) return constant(as_dense(value.sparse_tensor()), name);
    const std::string& kind = value.name();
    const bool whole = kind == "value_int" || kind == "value_ints",
               real = kind == "value_float" || kind == "value_floats",
               text = kind == "value_string" || kind == "value_strings";
    if (!whole && !real && !text) continue;
    onnx::TensorProto tensor;
    tensor.set_data_type(whole  ? onnx::TensorProto::INT64
                         : real ? onnx::TensorProto::FLOAT
                                : onnx::TensorProto::STRING);
    if (kind.back() == 's') tensor.add_dims(value.ints_size() + value.floats_size() + value.strings_size());
    if (kind == "value_int") tensor.add_int64_data(value.i());
    if (kind == "value_float") tensor.add_float_data(value.f());
    for (const std::int64_t number : value.ints()) tensor.add_int64_data(number);
    for (const float number : value.floats()) tensor.add_float_data(number);
    return constant(tensor, name);
  }
  throw FormatError("a constant without a value that we read");
}

/// Adds the constants that attributes hold: tensors, also in bodies, and, of an operator that is none of ONNX's own,
/// lists of numbers and the text of a compiled network.
void OnnxGraphReader::add_held(const onnx::NodeProto& node, const std::string& name, std::deque<OnnxValue>& held) {
  constexpr int longest_word = 1024;
  count_work(1 + static_cast<std::size_t>(node.attribute_size()));
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    const std::string own = name + "/" + attribute.name();
    const auto keep = [&](const onnx::TensorProto& tensor) {
      held.push_back(constant(tensor, own + std::to_string(held.size())));
    };
    onnx::TensorProto listed;
    listed.set_data_location(onnx::TensorProto::EXTERNAL);
    const bool is_text = static_cast<int>(attribute.s().size()) > longest_word;
    listed.set_data_type(is_text ? onnx::TensorProto::UINT8 : onnx::TensorProto::FLOAT);
    listed.add_dims(is_text ? static_cast<std::int64_t>(attribute.s().size()) : attribute.floats_size());
    if (!node.domain().empty() && (is_text || attribute.floats_size() > 1)) keep(listed);
    if (!node.domain().empty() && is_text) held.back().origins.clear();
    if (attribute.has_t()) keep(attribute.t());
    for (const onnx::TensorProto& tensor : attribute.tensors()) keep(tensor);
    for (const onnx::TensorProto& tensor : attribute.g().initializer()) keep(tensor);
    for (const onnx::NodeProto& inner : attribute.g().node()) add_held(inner, own, held);
  }
}

/// An operator that is none of ONNX's or ONNX Runtime's that we know: its attributes may hold weights too.
NetworkNode OnnxGraphReader::foreign_operator(const onnx::NodeProto& node, OnnxInputs inputs,
                                              const OnnxValues& outputs) {
  std::deque<OnnxValue> held;
  add_held(node, node.output(0), held);
  for (const OnnxValue& value : held) inputs.push_back(&value);
  onnx::NodeProto foreign = node;
  foreign.set_op_type(node.domain() + "." + node.op_type());
  return operator_of(foreign, inputs, outputs);
}

void OnnxGraphReader::read_inputs() {
  const WeightInputs told_apart(file_);
  const std::set<std::string>& weights = told_apart.weights();
  sequences_ = sequences_of(file_);
  for (const onnx::NodeProto& node : file_.nodes) {  // exporters write 0 for an open dimension as well as for none
    if (node.op_type() != "Reshape" || node.input_size() < 2 || integer_attribute(node, "allowzero", 0) == 0) continue;
    const OnnxValue* shape = scopes_.find(node.input(1));
    const auto extents = shape != nullptr && shape->numbers ? whole_numbers(*shape) : std::vector<std::int64_t>();
    if (std::count(extents.begin(), extents.end(), 0) > 0) empty_.insert(node.input(0));
  }
  std::set<std::string> names;
  for (const onnx::ValueInfoProto& input : file_.inputs) {
    if (scopes_.find(input.name()) == nullptr && weights.count(input.name()) == 0) names.insert(input.name());
  }
  require_inputs(options_, names);
  for (const onnx::ValueInfoProto& input : file_.inputs) {  // what the caller says goes before what we suppose
    if (options_.shapes.count(input.name()) != 0) bind_symbols(input, options_.shapes.at(input.name()));
  }
  for (const onnx::ValueInfoProto& input : file_.inputs) {
    if (scopes_.find(input.name()) != nullptr) continue;
    weights.count(input.name()) != 0 ? read_weight(input) : read_input(input);
  }
  if (network_.inputs.empty() && !options_.shapes.empty())
    throw InputError("with these shapes all its inputs are empty");
  if (!weights.empty()) {
    network_.remarks.push_back(std::to_string(weights.size()) + (weights.size() == 1 ? " input is" : " inputs are") +
                               " read as weights, and counted as such");
  }
  if (std::string remark = told_apart.remark(); !remark.empty()) network_.remarks.push_back(std::move(remark));
}

/// An input that is given anew with every run, and stands where weights do.
void OnnxGraphReader::read_weight(const onnx::ValueInfoProto& input) {
  onnx::TensorProto tensor;
  tensor.set_name(input.name());
  tensor.set_data_type(input.type().tensor_type().elem_type());
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  for (const auto& dimension : input.type().tensor_type().shape().dim()) tensor.add_dims(dimension.dim_value());
  read_constant(tensor);
}

void OnnxGraphReader::bind_symbols(const onnx::ValueInfoProto& input, const Shape& shape) {
  const auto& dimensions = input.type().tensor_type().shape().dim();
  for (int i = 0; i < dimensions.size() && i < static_cast<int>(shape.size()); ++i) {
    if (!dimensions[i].dim_param().empty())
      symbols_.emplace(dimensions[i].dim_param(), shape[static_cast<std::size_t>(i)]);
  }
}

void OnnxGraphReader::read_input(const onnx::ValueInfoProto& input) {
  const std::string place = "input '" + input.name() + "'";
  if (!input.type().has_tensor_type()) reject({place, " is no tensor"});
  const onnx::TypeProto::Tensor& type = input.type().tensor_type();
  const auto found = options_.shapes.find(input.name());
  const Shape* given = found == options_.shapes.end() ? nullptr : &found->second;
  if (options_.inputs_of_several && given && (is_fixed(input) || fixes_another(input, *given))) given = nullptr;
  OnnxValue value;
  value.element = type.elem_type();
  remark_on_type(value.element);
  if (given == nullptr && !type.has_shape()) {
    throw InputError(place + " has no shape in the file; give it, as in --shape " + input.name() + "=1x3x224x224");
  }
  if (given != nullptr && type.has_shape() && type.shape().dim_size() != static_cast<int>(given->size())) {
    throw InputError(place + " has " + std::to_string(type.shape().dim_size()) + " dimensions, the shape given, " +
                     format(*given) + ", has " + std::to_string(given->size()));
  }
  for (int i = 0; i < type.shape().dim_size(); ++i) {
    const auto own = given == nullptr ? std::nullopt : std::optional((*given)[static_cast<std::size_t>(i)]);
    value.shape.push_back(resolved(input.name(), type.shape().dim(i), i, own));
  }
  if (given != nullptr) value.shape = *given;
  const bool is_empty = element_count(value.shape) == 0;  // such as a past of no keys
  try {
    require_tensor_size(value.shape, is_empty);
  } catch (const Error& error) {
    reject({place, ": ", error.what()});
  }
  if (is_empty) return scopes_.set(input.name(), constant_of(value.shape, value.element, {}));
  value.source = builder_.input(input.name(), value.shape, element_type(value.element));
  builder_.edit().inputs.back().file_type = unlike_type(value.element);
  scopes_.set(input.name(), std::move(value));
}

std::int64_t OnnxGraphReader::resolved(const std::string& input, const onnx::TensorShapeProto::Dimension& dimension,
                                       int index, std::optional<std::int64_t> given) {
  const std::string place = "input '" + input + "', dimension " + std::to_string(index);
  if (dimension.has_dim_value() && dimension.dim_value() != 0 && dimension.dim_value() != -1) {
    if (given && *given != dimension.dim_value()) {
      throw InputError(place + ": the file fixes it at " + std::to_string(dimension.dim_value()) +
                       ", the shape given says " + std::to_string(*given));
    }
    return dimension.dim_value();
  }
  if (given) return *given;
  if (empty_.count(input) != 0 && dimension.has_dim_value() && dimension.dim_value() == 0) return 0;
  const std::string& symbol = dimension.dim_param();
  if (const auto known = symbols_.find(symbol); !symbol.empty() && known != symbols_.end()) return known->second;
  if (index == 0 && !is_called_time(lower_case(symbol)) && sequences_.count(input) == 0) {
    if (!symbol.empty()) symbols_.emplace(symbol, options_.batch);
    return options_.batch;
  }
  const std::string open = !dimension.has_dim_value()   ? " is dynamic"
                           : dimension.dim_value() == 0 ? " has the length 0 in the file: it may be empty or open"
                                                        : " has the length -1 in the file: it is open";
  throw InputError(place + (symbol.empty() ? "" : " ('" + symbol + "')") + open +
                   "; give the input's shape, as in --shape " + input + "=" + example_of(input));
}

std::string OnnxGraphReader::example_of(const std::string& input) const {
  Shape open;
  for (const onnx::ValueInfoProto& value : file_.inputs) {
    if (value.name() != input) continue;
    for (const auto& dimension : value.type().tensor_type().shape().dim()) {
      const auto symbol = symbols_.find(dimension.dim_param());
      const bool known = !dimension.dim_param().empty() && symbol != symbols_.end();
      open.push_back(dimension.has_dim_value() ? dimension.dim_value() : known ? symbol->second : 0);
    }
  }
  return example_shape(open, options_.batch);
}

}  // namespace tenshot::nasbench
