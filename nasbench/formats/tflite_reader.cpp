#include <algorithm>
#include <array>

#include "nasbench/formats/network_file.h"
#include "nasbench/formats/tflite_file.h"
#include "nasbench/formats/tflite_operation.h"
#include "nasbench/graph/limits.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/support/error.h"
#include "nasbench/support/text.h"

namespace tenshot::nasbench {
namespace {

using tflite::Operation;
using tflite::Value;
namespace code = tflite::code;

class TfliteReader {
 public:
  TfliteReader(TfliteFile file, const NetworkReadOptions& options)
      : file_(std::move(file)), options_(options), images_(tflite::images_of(file_)), values_(file_.tensors.size()) {}

  Network read() {
    read_constants();
    read_inputs();
    for (std::size_t i = 0; i < file_.operators.size(); ++i) {
      const TfliteOperator& op = file_.operators[i];
      first_nodes_.push_back(builder_.network().nodes.size());
      if (op.outputs.empty()) continue;  // it starts or keeps a state
      const std::string &given = tensor(op.outputs.front()).name, name = given.empty() ? "operator" : given;
      try {
        read_operator(op, name);
      } catch (const Error& error) {
        reject({"operator ", i, " ('", excerpt(name), "'): ", error.what()});
      }
    }
    for (const std::int32_t output : file_.outputs) {
      const std::optional<Value>& value = values_[static_cast<std::size_t>(output)];
      if (!value) reject({"output '", file_.tensors[static_cast<std::size_t>(output)].name, "' is given by nothing"});
      if (!value->constant) builder_.output(value->source);
    }
    if (builder_.network().outputs.empty()) throw FormatError("the network computes nothing");
    builder_.edit().remarks = std::move(file_.remarks);
    return builder_.take();
  }

 private:
  /// The type of the first tensor that it computes from: bytes, where the network is quantised. A mask or an index in
  /// front of what is chosen is none, and a change of type counts as what it gives.
  ElementType computing_type(const TfliteOperator& op) const {
    constexpr std::array by_output = {code::embedding_lookup, code::gather,    code::cast,
                                      code::select,           code::select_v2, code::one_hot};
    if (std::find(by_output.begin(), by_output.end(), op.code) != by_output.end())
      return tensor(op.outputs.front()).type;
    for (const std::int32_t input : op.inputs) {
      if (input >= 0 && !values_[static_cast<std::size_t>(input)]->constant) return tensor(input).type;
    }
    return tensor(op.outputs.front()).type;
  }

  /// Says what a node computes in and gives, which tensors its weights are (a kind that implies them may have a bias of
  /// integers) beside what a custom operator's options hold, and the bits of the largest.
  void set_types(const TfliteOperator& op, const Operation& operation, const std::vector<const Value*>& inputs,
                 NetworkNode& node) const {
    node.operation.type = computing_type(op);
    if (node.outputs.size() == 1) node.outputs.front().type = tensor(op.outputs.front()).type;
    std::int64_t most = 0;
    constexpr std::uint64_t longest_options = 1024;
    if (op.custom_bytes > longest_options) {  // a compiled network: bytes, and no parameters
      most = static_cast<std::int64_t>(op.custom_bytes);
      node.operation.constants.push_back({most});
      node.operation.weight_bits = 8;
      node.stored.push_back({"", most});
    }
    for (std::size_t i = 0; i < inputs.size() && parameter_count(node.operation) > 0; ++i) {
      const bool trained = operation.is_trained(i);
      const bool bias = i > 0 && operation.is_constant(i) && node.operation.constants.empty();
      if (!trained && !bias) continue;
      node.stored.insert(node.stored.end(), inputs[i]->origins.begin(), inputs[i]->origins.end());
      const std::int64_t count = trained ? element_count(inputs[i]->shape) : 0;
      if (count > most) node.operation.weight_bits = inputs[i]->bits;
      most = std::max(most, count);
    }
    if (node.operation.weight_bits == 8 * byte_size(node.operation.type)) node.operation.weight_bits = 0;
  }

  const TfliteTensor& tensor(std::int32_t index) const { return file_.tensors[static_cast<std::size_t>(index)]; }

  /// What nothing computes: weights, and the states of recurrent operators.
  void read_constants() {
    std::set<std::int32_t> computed(file_.inputs.begin(), file_.inputs.end());
    for (const TfliteOperator& op : file_.operators) computed.insert(op.outputs.begin(), op.outputs.end());
    for (std::size_t i = 0; i < file_.tensors.size(); ++i) {
      const TfliteTensor& from = file_.tensors[i];
      if (!from.has_data && computed.count(static_cast<std::int32_t>(i)) != 0) continue;
      Value value;
      value.constant = true;
      value.stored = from.has_data;
      value.shape = from.shape;
      require_constant_size(from);
      if (from.has_data) {
        constexpr int int4 = 17, int2 = 19, uint4 = 20;
        const int type = from.file_type;
        value.tensor = &from;
        value.bits = type == int4 || type == uint4 ? 4 : type == int2 ? 2 : 8 * byte_size(from.type);
        value.origins = {{"byte " + std::to_string(from.data.place), element_count(from.shape)}};
      }
      values_[i] = std::move(value);
    }
  }

  static void require_constant_size(const TfliteTensor& tensor) {
    try {
      require_tensor_size(tensor.shape, true);
    } catch (const FormatError& error) {
      reject({"constant '", tensor.name, "': ", error.what()});
    }
  }

  void read_inputs() {
    std::set<std::string> names;
    for (const std::int32_t input : file_.inputs) names.insert(tensor(input).name);
    require_inputs(options_, names);
    for (const std::int32_t input : file_.inputs) {
      if (values_[static_cast<std::size_t>(input)]) continue;  // a constant, or named twice
      const TfliteTensor& from = tensor(input);
      const Shape shape = input_shape(from);
      require_tensor_size(shape);
      Value value;
      value.image = images_[static_cast<std::size_t>(input)];
      value.shape = value.image ? tflite::image_shape(shape) : shape;
      value.source = builder_.input(from.name, value.shape, from.type);
      values_[static_cast<std::size_t>(input)] = std::move(value);
    }
  }

  static bool is_open(const TfliteTensor& tensor, std::size_t dimension) {
    return !tensor.signature.empty() && tensor.signature[dimension] == -1;
  }

  /// As the file has it, channels last. The first dimension is a batch where it is open.
  Shape input_shape(const TfliteTensor& from) {
    const auto found = options_.shapes.find(from.name);
    const auto& signature = from.signature;
    const bool is_fixed = std::find(signature.begin(), signature.end(), -1) == signature.end();
    const bool none = found == options_.shapes.end() || (options_.inputs_of_several && is_fixed);
    const Shape* given = none ? nullptr : &found->second;
    Shape shape = from.shape;
    if (given != nullptr && given->size() != shape.size()) {
      throw InputError("input '" + from.name + "' has " + std::to_string(shape.size()) +
                       " dimensions, the shape given, " + format(*given) + ", has " + std::to_string(given->size()));
    }
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (is_open(from, i)) {
        const bool is_batch = i == 0 && (shape.size() > 1 || file_.inputs.size() > 1);  // a lone one is a length
        if (given == nullptr && !is_batch) {
          throw InputError("input '" + from.name + "', dimension " + std::to_string(i) +
                           " is open; give the input's shape in the order of the file, as in --shape " + from.name +
                           "=" + example_of(from));
        }
        shape[i] = given == nullptr ? options_.batch : (*given)[i];
        sizes_are_given_ = sizes_are_given_ || !is_batch;
        if (i == 0) batch_ = shape[i];
      } else if (given != nullptr && (*given)[i] != shape[i]) {
        throw InputError("input '" + from.name + "', dimension " + std::to_string(i) + ": the file fixes it at " +
                         std::to_string(shape[i]) + ", the shape given says " + std::to_string((*given)[i]) +
                         " (the order is the file's, channels last)");
      }
    }
    return shape;
  }

  std::string example_of(const TfliteTensor& input) const {
    Shape open;  // channels in front, as an example has them
    for (std::size_t i = 0; i < input.shape.size(); ++i) open.push_back(is_open(input, i) ? 0 : input.shape[i]);
    if (open.size() == 1) return "16000";  // a second of sound
    if (open.size() != 4) return example_shape(open, options_.batch);
    constexpr std::int64_t pixels = 224, channels = 3;
    const Shape usual = {options_.batch, pixels, pixels, channels};
    for (std::size_t i = 0; i < open.size(); ++i) open[i] = open[i] > 0 ? open[i] : usual[i];
    return format(open);
  }

  /// A computed tensor of a shape in the order of the file.
  Value computed(std::int32_t index, const Shape& shape) const {
    require_tensor_size(shape);
    Value value;
    value.image = images_[static_cast<std::size_t>(index)];
    value.shape = value.image ? tflite::image_shape(shape) : shape;
    return value;
  }

  /// What the file says of a computed tensor, with the batch that was asked for.
  Value expected(std::int32_t index) const {
    const TfliteTensor& from = tensor(index);
    Shape shape = from.shape;
    if (batch_ > 0 && is_open(from, 0)) shape[0] = batch_;
    return computed(index, shape);
  }

  /// Whether the file leaves a dimension of the tensor open that follows from sizes that were given, or from the batch.
  bool has_open_size(std::int32_t index) const {
    const Shape& signature = tensor(index).signature;
    return (sizes_are_given_ || batch_ > 0) && std::find(signature.begin(), signature.end(), -1) != signature.end();
  }

  /// Whether an open first dimension of an input is another than the batch, as of a batch and a length in one.
  bool has_merged_batch(const TfliteOperator& op, const std::vector<const Value*>& inputs) const {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] == nullptr || inputs[i]->constant || inputs[i]->shape.empty()) continue;
      if (is_open(tensor(op.inputs[i]), 0) && inputs[i]->shape[0] != batch_) return true;
    }
    return false;
  }

  /// What an operator is expected to give. Where the file leaves its size open, the operator says it.
  std::vector<Value> expected_outputs(const TfliteOperator& op, const std::string& name,
                                      const std::vector<const Value*>& inputs) {
    std::vector<Value> outputs;
    bool open = false;
    for (const std::int32_t output : op.outputs) {
      outputs.push_back(expected(output));
      open = open || has_open_size(output);
    }
    if (!open) return outputs;
    const Operation operation(file_, op, name, inputs, outputs, builder_);
    if (tflite::computes_its_shape(operation)) return outputs;
    const std::optional<std::vector<Shape>> shapes = tflite::inferred_shapes(operation);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (!has_open_size(op.outputs[i])) continue;
      const Shape& signature = tensor(op.outputs[i]).signature;
      if (shapes && i < shapes->size()) {
        outputs[i] = computed(op.outputs[i], (*shapes)[i]);
      } else if (has_merged_batch(op, inputs) ||
                 (sizes_are_given_ && std::find(signature.begin() + 1, signature.end(), -1) != signature.end())) {
        reject({"the file leaves the size of its output open, and we cannot say it for ", operation.type(),
                "; convert the network with a fixed size of its input"});
      }
    }
    return outputs;
  }

  /// Throws FormatError unless an output has the shape that the file says, which may be open in part.
  void require_as_said(std::int32_t index, const Value& given, const Value& said) const {
    bool fits = given.shape == said.shape;
    if (has_open_size(index)) {
      const Shape shape = tflite::file_shape(given), &signature = tensor(index).signature;
      fits = shape.size() == signature.size();
      for (std::size_t i = 0; fits && i < shape.size(); ++i) fits = signature[i] == -1 || signature[i] == shape[i];
    }
    if (fits) return;
    reject({"it computes ", given.shape, ", where the file says ", said.shape});
  }

  void read_operator(const TfliteOperator& op, const std::string& name) {
    const tflite::Rule* rule = tflite::rule_of(op.code, op.custom);
    const bool keeps_states = rule == nullptr || rule->convert == tflite::recurrent;
    const std::size_t before = builder_.network().nodes.size();
    std::vector<const Value*> inputs;
    bool constant = op.code != code::read_variable;
    for (const std::int32_t input : op.inputs) {
      if (input < 0) {
        inputs.push_back(nullptr);
        continue;
      }
      std::optional<Value>& value = values_[static_cast<std::size_t>(input)];
      if (!value) reject({"nothing before it gives '", tensor(input).name, "'"});
      if (tensor(input).variable && value->constant && !keeps_states) value = state(input);
      inputs.push_back(&*value);
      constant = constant && value->constant;
    }
    if (constant || op.code == code::shape || op.code == code::rank) return give_constants(op, name, inputs);
    const bool hands_on = op.code == code::quantize || op.code == code::dequantize || op.code == code::fake_quant;
    if (hands_on && inputs[0] != nullptr) return set(op.outputs.front(), *inputs[0]);
    if (op.code == code::branch) return read_choice(op, name, inputs);
    const std::vector<Value> outputs = expected_outputs(op, name, inputs);
    Operation operation(file_, op, name, inputs, outputs, builder_);
    (rule == nullptr ? tflite::opaque : rule->convert)(operation);
    for (std::size_t i = before; i < builder_.network().nodes.size(); ++i) {
      NetworkNode& node = builder_.edit().nodes[i];
      for (const TensorType& output : node.outputs) require_tensor_size(output.shape);
      require_countable(node.operation);
      set_types(op, operation, inputs, node);
    }
    for (std::size_t i = 0; i < op.outputs.size() && i < operation.given().size(); ++i) {
      Value value = outputs[i];
      value.source = operation.given()[i];
      value.shape = builder_.type(value.source).shape;
      require_as_said(op.outputs[i], value, outputs[i]);
      set(op.outputs[i], std::move(value));
    }
  }

  /// A state as an operator reads it that is no recurrent one.
  Value state(std::int32_t i) {
    Value value = computed(i, tensor(i).shape);
    value.source =
        builder_.append(builder_.node(OperatorKind::opaque, tensor(i).name, {}, value.shape, "ReadVariable"));
    return value;
  }

  /// The output of the branch that computes more; what is not read is no part of the network.
  void read_choice(const TfliteOperator& op, const std::string& name, const std::vector<const Value*>& inputs) {
    const auto [first, middle, end] = op.branches;
    if (inputs.at(0)->shape != inputs.at(1)->shape) {
      reject({"its branches give ", inputs[0]->shape, " and ", inputs[1]->shape,
              ", of which the data choose: convert one of them alone"});
    }
    if (&op == &file_.operators[end]) file_.remarks.push_back(remark_on_branches("If", name));
    const bool is_first = computes_less(builder_.network(), first_nodes_[first], first_nodes_[middle]);
    const Value &chosen = *inputs[is_first ? 0 : 1], &other = *inputs[is_first ? 1 : 0];
    set(op.outputs.front(), chosen.constant ? other : chosen);
  }

  void give_constants(const TfliteOperator& op, const std::string& name, const std::vector<const Value*>& inputs) {
    const auto numbers = tflite::folded_numbers(Operation(file_, op, name, inputs, {}, builder_));
    for (const std::int32_t output : op.outputs) {
      Value value;
      value.constant = true;
      value.shape = tensor(output).shape;
      require_constant_size(tensor(output));
      for (const Value* input : inputs) {
        if (input == nullptr || !input->stored) continue;
        value.stored = true;
        value.origins.insert(value.origins.end(), input->origins.begin(), input->origins.end());
        if (value.bits == 0) value.bits = input->bits;
      }
      // Each once: a loop's counter is made of its step in every iteration.
      std::sort(value.origins.begin(), value.origins.end(), [](auto& a, auto& b) { return a.name < b.name; });
      const auto is_same = [](const StoredTensor& a, const StoredTensor& b) { return a.name == b.name; };
      value.origins.erase(std::unique(value.origins.begin(), value.origins.end(), is_same), value.origins.end());
      const bool fits = numbers && static_cast<std::int64_t>(numbers->size()) == element_count(value.shape);
      if (fits && output == op.outputs.front()) value.numbers = numbers;
      set(output, std::move(value));
    }
  }

  void set(std::int32_t index, Value value) {
    std::optional<Value>& known = values_[static_cast<std::size_t>(index)];
    if (known) reject({"'", tensor(index).name, "' is given twice"});
    known = std::move(value);
  }

  TfliteFile file_;
  const NetworkReadOptions& options_;
  std::vector<bool> images_;  ///< which tensors are
  NetworkBuilder builder_;
  std::vector<std::optional<Value>> values_;
  std::vector<std::size_t> first_nodes_;  ///< how many nodes there are before each operator
  std::int64_t batch_ = 0;                ///< where the file leaves it open
  bool sizes_are_given_ = false;          ///< of an input that leaves more open than its batch
};

}  // namespace

Network read_tflite(const std::filesystem::path& path, const NetworkReadOptions& options) {
  TfliteFile file = read_tflite_file(path);
  return read_checked(path, [&] { return TfliteReader(std::move(file), options).read(); });
}

}  // namespace tenshot::nasbench
