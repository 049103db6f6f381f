#include "nasbench/graph/onnx_reader.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <unordered_map>

#include "nasbench/graph/network_patterns.h"
#include "nasbench/graph/onnx_file.h"
#include "nasbench/graph/onnx_folding.h"
#include "nasbench/graph/onnx_inference.h"
#include "nasbench/graph/onnx_operators.h"
#include "nasbench/graph/onnx_order.h"
#include "nasbench/graph/onnx_values.h"
#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot::nasbench {
namespace {

std::string text_of(const Shape& shape) {
  std::vector<std::string> dimensions;
  for (const std::int64_t dimension : shape) dimensions.push_back(std::to_string(dimension));
  return dimensions.empty() ? "scalar" : joined(dimensions, "x");
}

bool has_sub_graph(const onnx::NodeProto& node) {
  return std::any_of(node.attribute().begin(), node.attribute().end(),
                     [](const onnx::AttributeProto& a) { return a.has_g() || a.graphs_size() > 0; });
}

class NetworkReader {
 public:
  NetworkReader(OnnxFile file, const OnnxReadOptions& options) : file_(std::move(file)), options_(options) {}

  Network read() {
    const auto opset = file_.opsets.find("");
    if (opset != file_.opsets.end() && opset->second < 7) {
      throw FormatError("it is of opset " + std::to_string(opset->second) + "; expected 7 or newer");
    }
    if (file_.nodes.empty()) throw FormatError("its graph has no nodes");
    read_constants();
    read_inputs();
    for (const onnx::ValueInfoProto& value : file_.values) declared_.emplace(value.name(), &value);
    for (const onnx::ValueInfoProto& value : file_.outputs) declared_.emplace(value.name(), &value);
    std::set<std::string> given;
    for (const auto& [name, value] : values_) given.insert(name);
    for (const std::size_t index : execution_order(file_.nodes, given)) {
      onnx::NodeProto& node = file_.nodes[index];
      if (node.domain() == "ai.onnx") node.clear_domain();
      try {
        read_node(node);
      } catch (const Error& error) {
        throw FormatError(place_of(node, index) + ": " + error.what());
      }
    }
    read_outputs();
    return std::move(network_);
  }

 private:
  void read_constants() {
    for (const onnx::TensorProto& tensor : file_.initializers) {
      try {
        values_[tensor.name()] = constant(tensor);
      } catch (const Error& error) {
        throw FormatError("constant '" + tensor.name() + "': " + error.what());
      }
    }
  }

  static OnnxValue constant(const onnx::TensorProto& tensor) {
    OnnxValue value;
    value.constant = true;
    value.shape = {tensor.dims().begin(), tensor.dims().end()};
    require_dimensions(value.shape, true);
    value.stored = value.shape;
    value.element = tensor.data_type();
    value.numbers = numbers_of(tensor);
    return value;
  }

  void read_inputs() {
    std::set<std::string> names;
    for (const onnx::ValueInfoProto& input : file_.inputs) {
      if (values_.count(input.name()) == 0) names.insert(input.name());
    }
    for (const auto& [name, shape] : options_.shapes) {
      if (names.count(name) == 0 && !options_.shapes_of_several) {
        throw InputError("it has no input '" + name + "' to give a shape to; its inputs are " + joined(names));
      }
    }
    for (const onnx::ValueInfoProto& input : file_.inputs) {  // what the caller says goes before what we suppose
      if (options_.shapes.count(input.name()) != 0) bind_symbols(input, options_.shapes.at(input.name()));
    }
    for (const onnx::ValueInfoProto& input : file_.inputs) {
      if (values_.count(input.name()) == 0) read_input(input);
    }
  }

  void bind_symbols(const onnx::ValueInfoProto& input, const Shape& shape) {
    const auto& dimensions = input.type().tensor_type().shape().dim();
    for (int i = 0; i < dimensions.size() && i < static_cast<int>(shape.size()); ++i) {
      if (!dimensions[i].dim_param().empty())
        symbols_.emplace(dimensions[i].dim_param(), shape[static_cast<std::size_t>(i)]);
    }
  }

  void read_input(const onnx::ValueInfoProto& input) {
    const std::string place = "input '" + input.name() + "'";
    if (!input.type().has_tensor_type()) throw FormatError(place + " is no tensor");
    const onnx::TypeProto::Tensor& type = input.type().tensor_type();
    const auto given = options_.shapes.find(input.name());
    OnnxValue value;
    value.element = type.elem_type();
    value.source = {-1, static_cast<int>(network_.inputs.size())};
    if (given != options_.shapes.end()) {
      value.shape = given->second;
      if (type.has_shape() && type.shape().dim_size() != static_cast<int>(value.shape.size())) {
        throw InputError(place + " has " + std::to_string(type.shape().dim_size()) + " dimensions, the shape given, " +
                         text_of(value.shape) + ", has " + std::to_string(value.shape.size()));
      }
    } else if (!type.has_shape()) {
      throw InputError(place + " has no shape in the file; give it, as in --shape " + input.name() + "=1x3x224x224");
    }
    for (int i = 0; i < type.shape().dim_size(); ++i) {
      const std::int64_t dimension = resolved(
          input.name(), type.shape().dim(i), i,
          given != options_.shapes.end() ? std::optional(value.shape[static_cast<std::size_t>(i)]) : std::nullopt);
      if (given == options_.shapes.end()) value.shape.push_back(dimension);
    }
    try {
      require_dimensions(value.shape);
    } catch (const Error& error) {
      throw FormatError(place + ": " + error.what());
    }
    network_.inputs.push_back({input.name(), {value.shape, element_type(value.element)}});
    values_[input.name()] = std::move(value);
  }

  std::int64_t resolved(const std::string& input, const onnx::TensorShapeProto::Dimension& dimension, int index,
                        std::optional<std::int64_t> given) {
    const std::string place = "input '" + input + "', dimension " + std::to_string(index);
    if (dimension.has_dim_value() && dimension.dim_value() != 0 && dimension.dim_value() != -1) {
      if (given && *given != dimension.dim_value()) {
        throw InputError(place + ": the file fixes it at " + std::to_string(dimension.dim_value()) +
                         ", the shape given says " + std::to_string(*given));
      }
      return dimension.dim_value();
    }
    if (given) return *given;
    const std::string& symbol = dimension.dim_param();
    if (const auto known = symbols_.find(symbol); !symbol.empty() && known != symbols_.end()) return known->second;
    if (index == 0) {
      if (!symbol.empty()) symbols_.emplace(symbol, options_.batch);
      return options_.batch;
    }
    throw InputError(place + (symbol.empty() ? "" : " ('" + symbol + "')") +
                     " is dynamic; give the input's shape, as in --shape " + input + "=" + example_of(input));
  }

  /// A shape that the input can have: what the file fixes stays, and what is known of its symbols.
  std::string example_of(const std::string& input) const {
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

  void read_node(const onnx::NodeProto& node) {
    std::vector<const OnnxValue*> inputs;
    bool constant_inputs = true;
    for (const std::string& name : node.input()) {
      inputs.push_back(name.empty() ? nullptr : &values_.at(name));
      constant_inputs = constant_inputs && (name.empty() || inputs.back()->constant);
    }
    if (is_standard(node)) {
      if (node.op_type() == "Constant") return set(node, 0, constant_of(node));
      if (is_alias(node, inputs)) return set_alias(node, *inputs[0]);
      if (const auto results = folded(node, inputs)) return set(node, 0, results->front());
    }
    std::vector<OnnxValue> outputs = output_types(node, inputs);
    if (outputs.empty()) throw FormatError("it has no outputs");
    if (constant_inputs && !node.input().empty() && !has_sub_graph(node)) {
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        outputs[i].constant = true;
        const bool repeats = node.op_type() == "Expand" || node.op_type() == "Tile";
        outputs[i].stored = repeats && inputs[0] != nullptr ? inputs[0]->stored : outputs[i].shape;
        set(node, static_cast<int>(i), outputs[i]);
      }
      return;
    }
    add_operator(node, inputs, outputs);
  }

  static bool is_standard(const onnx::NodeProto& node) { return node.domain().empty(); }

  static OnnxValue constant_of(const onnx::NodeProto& node) {
    for (const onnx::AttributeProto& value : node.attribute()) {
      if (value.has_t()) return constant(value.t());
      onnx::TensorProto tensor;
      const std::string& name = value.name();
      if (name == "value_int" || name == "value_ints") {
        tensor.set_data_type(onnx::TensorProto::INT64);
        if (name == "value_int") tensor.add_int64_data(value.i());
        for (const std::int64_t number : value.ints()) tensor.add_int64_data(number);
        if (name == "value_ints") tensor.add_dims(value.ints_size());
        return constant(tensor);
      }
      if (name == "value_float" || name == "value_floats") {
        tensor.set_data_type(onnx::TensorProto::FLOAT);
        if (name == "value_float") tensor.add_float_data(value.f());
        for (const float number : value.floats()) tensor.add_float_data(number);
        if (name == "value_floats") tensor.add_dims(value.floats_size());
        return constant(tensor);
      }
    }
    throw FormatError("a constant without a value that we read");
  }

  /// Nodes that hand their first input on, of another type at most.
  static bool is_alias(const onnx::NodeProto& node, const std::vector<const OnnxValue*>& inputs) {
    static const std::set<std::string> types = {"Identity", "Dropout", "QuantizeLinear", "DequantizeLinear"};
    if (inputs.empty() || inputs[0] == nullptr) return false;
    if (inputs[0]->constant) return types.count(node.op_type()) != 0 && node.op_type() != "Identity";
    if (node.op_type() == "Cast") {
      return element_type(inputs[0]->element) == element_type(static_cast<int>(integer_attribute(node, "to", 0)));
    }
    return types.count(node.op_type()) != 0;
  }

  void set_alias(const onnx::NodeProto& node, OnnxValue value) {
    if (node.op_type() == "QuantizeLinear") {
      const bool has_zero = node.input_size() > 2 && !node.input(2).empty();
      value.element = has_zero ? values_.at(node.input(2)).element : static_cast<int>(onnx::TensorProto::UINT8);
      value.bytes = element_type(value.element);
    } else if (node.op_type() == "DequantizeLinear") {
      value.bytes = element_type(value.element);
      value.element = onnx::TensorProto::FLOAT;
      value.numbers.reset();
    }
    set(node, 0, std::move(value));
  }

  void set(const onnx::NodeProto& node, int output, OnnxValue value) {
    if (output < node.output_size() && !node.output(output).empty()) values_[node.output(output)] = std::move(value);
  }

  /// As libonnx infers them; what it does not know the file has to say.
  std::vector<OnnxValue> output_types(const onnx::NodeProto& node, const std::vector<const OnnxValue*>& inputs) {
    const auto opset = file_.opsets.find(node.domain());
    constexpr std::int64_t newest = 1000;
    const std::vector<InferredType> inferred =
        inferred_types(node, opset == file_.opsets.end() ? newest : opset->second, inputs);
    std::vector<OnnxValue> outputs;
    for (int i = 0; i < node.output_size(); ++i) {
      const InferredType& own = inferred[static_cast<std::size_t>(i)];
      outputs.push_back(own ? *own : declared(node, i));
      require_dimensions(outputs.back().shape, !own || has_sub_graph(node));
    }
    return outputs;
  }

  OnnxValue declared(const onnx::NodeProto& node, int output) {
    OnnxValue value;
    value.element = onnx::TensorProto::FLOAT;
    if (node.output(output).empty()) return value;
    const auto found = declared_.find(node.output(output));
    if (found == declared_.end() && output > 0) return value;  // a second output that nobody may read
    if (found == declared_.end()) refuse_without_shape(node, output);
    const onnx::TypeProto& type = found->second->type();
    if (type.value_case() == onnx::TypeProto::VALUE_NOT_SET) refuse_without_shape(node, output);
    if (!type.has_tensor_type()) return value;  // a sequence: it has a cost and no shape
    value.element = type.tensor_type().elem_type();
    if (!type.tensor_type().has_shape()) refuse_without_shape(node, output);
    for (const auto& dimension : type.tensor_type().shape().dim()) {
      const auto symbol = symbols_.find(dimension.dim_param());
      const bool known_symbol = !dimension.dim_param().empty() && symbol != symbols_.end();
      if (!dimension.has_dim_value() && !known_symbol) refuse_without_shape(node, output);
      value.shape.push_back(known_symbol ? symbol->second : dimension.dim_value());
    }
    return value;
  }

  [[noreturn]] static void refuse_without_shape(const onnx::NodeProto& node, int output) {
    throw FormatError(
        "the shape of its output '" + node.output(output) +
        "' is unknown: we cannot infer it, and the file does not say it; write the file with the shapes of "
        "its tensors (onnx.shape_inference, or value_info)");
  }

  void add_operator(const onnx::NodeProto& node, const std::vector<const OnnxValue*>& inputs,
                    const std::vector<OnnxValue>& outputs) {
    std::vector<Source> implicit;
    std::vector<Shape> implicit_shapes;
    for_each_read(node, false, [&](const std::string& name) {
      const auto found = values_.find(name);
      if (found == values_.end() || found->second.constant) return;
      if (std::find(implicit.begin(), implicit.end(), found->second.source) != implicit.end()) return;
      implicit.push_back(found->second.source);
      implicit_shapes.push_back(found->second.shape);
    });
    NetworkNode added;
    if (is_known_domain(node)) {
      added = operator_of(node, inputs, outputs, implicit, implicit_shapes);
    } else {
      onnx::NodeProto foreign = node;
      foreign.set_op_type(node.domain() + "." + node.op_type());
      added = operator_of(foreign, inputs, outputs, implicit, implicit_shapes);
    }
    require_countable(added.operation);
    added.name = unique_name(node);
    const int index = static_cast<int>(network_.nodes.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      OnnxValue value = outputs[i];
      value.source = {index, static_cast<int>(std::min(i, added.outputs.size() - 1))};
      if (i < added.outputs.size()) set(node, static_cast<int>(i), std::move(value));
    }
    network_.nodes.push_back(std::move(added));
  }

  static bool is_known_domain(const onnx::NodeProto& node) {
    return node.domain().empty() || node.domain() == "com.microsoft";
  }

  /// Costs are sums of 64-bit integers.
  static void require_countable(const OperatorSpecification& operation) {
    constexpr double most = 9e13;  // of which 64 bits hold the sum over as many nodes as there may be
    if (operation.inputs.empty() || operation.inputs[0].empty()) return;
    double products = static_cast<double>(element_count(operation.output));
    if (operation.kind == OperatorKind::linear || operation.kind == OperatorKind::matrix_product) {
      products *= static_cast<double>(operation.inputs[0].back());
    } else if (operation.kind == OperatorKind::convolution || operation.kind == OperatorKind::transposed_convolution) {
      products = std::max(products, static_cast<double>(element_count(operation.inputs[0]))) *
                 static_cast<double>(operation.kernel.height) * operation.kernel.width *
                 static_cast<double>(std::max(channel_count(operation, operation.inputs[0]),
                                              channel_count(operation, operation.output))) /
                 operation.groups;
    }
    if (products > most) throw FormatError("it computes more than 9 x 10^13 products: its shapes cannot be meant");
  }

  std::string unique_name(const onnx::NodeProto& node) {
    const std::string base = !node.name().empty()     ? node.name()
                             : node.output_size() > 0 ? node.output(0)
                                                      : node.op_type();
    std::string name = base;
    for (std::size_t& number = repeats_[base]; !names_.insert(name).second;) {
      name = base + "_" + std::to_string(++number + 1);
    }
    return name;
  }

  void read_outputs() {
    if (file_.outputs.empty()) throw FormatError("its graph has no outputs");
    for (const onnx::ValueInfoProto& output : file_.outputs) {
      const auto found = values_.find(output.name());
      if (found == values_.end()) {
        throw FormatError("output '" + output.name() + "' is given by no node, input or constant");
      }
      if (!found->second.constant) network_.outputs.push_back(found->second.source);
    }
  }

  OnnxFile file_;
  const OnnxReadOptions& options_;
  std::unordered_map<std::string, OnnxValue> values_;
  std::unordered_map<std::string, std::int64_t> symbols_;
  std::unordered_map<std::string, const onnx::ValueInfoProto*> declared_;
  std::set<std::string> names_;
  std::unordered_map<std::string, std::size_t> repeats_;
  Network network_;
};

}  // namespace

Network read_onnx(const std::filesystem::path& path, const OnnxReadOptions& options) {
  constexpr std::size_t longest_message = 1000;  // names of nodes and inputs may be anything
  if (options.batch < 1) throw InputError("batch is " + std::to_string(options.batch) + "; expected at least 1");
  OnnxFile file = read_onnx_file(path);
  try {
    Network network = simplified(NetworkReader(std::move(file), options).read());
    require_sound(network);
    return network;
  } catch (const InputError& error) {
    throw InputError("'" + path.string() + "': " + excerpt(error.what(), longest_message));
  } catch (const FormatError& error) {
    throw FormatError("'" + path.string() + "': " + excerpt(error.what(), longest_message));
  }
}

}  // namespace tenshot::nasbench
