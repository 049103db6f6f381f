#include "nasbench/formats/tflite_file.h"

#include <algorithm>
#include <map>
#include <utility>

#include "nasbench/formats/tflite_operation.h"
#include "nasbench/graph/limits.h"
#include "nasbench/graph/network_reading.h"
#include "nasbench/support/error.h"
#include "nasbench/support/file_kind.h"
#include "nasbench/support/text.h"

namespace tenshot::nasbench {
namespace {

using tflite::code::add, tflite::code::branch, tflite::code::loop, tflite::code::sub;
constexpr std::uint32_t schema_version = 3;
constexpr std::uint64_t most_tensors = 4 * operator_limit;
constexpr std::size_t longest_name = 500;
constexpr std::int32_t placeholder = 127;  // BuiltinOperator: larger codes are in a field of their own

/// Fields by their number in the schema.
namespace field {
constexpr int model_version = 0, model_codes = 1, model_subgraphs = 2, model_buffers = 4, model_signatures = 7;
constexpr int graph_tensors = 0, graph_inputs = 1, graph_outputs = 2, graph_operators = 3;
constexpr int tensor_shape = 0, tensor_type = 1, tensor_buffer = 2, tensor_name = 3, tensor_variable = 5,
              tensor_signature = 7;
constexpr int buffer_data = 0, buffer_offset = 1, buffer_size = 2;
constexpr int code_old = 0, code_custom = 1, code_builtin = 3;
constexpr int operator_code = 0, operator_inputs = 1, operator_outputs = 2, operator_options = 4,
              operator_custom_options = 5, operator_options_2 = 12;
}  // namespace field

/// The element type of a TensorType, in order: float32, float16, int32, uint8, int64, string, bool, int16, complex64,
/// int8, float64, complex128, uint64, resource, variant, uint32, uint16, int4, bfloat16, int2, uint4; newer: int32.
ElementType element_type(int type) {
  using T = ElementType;
  constexpr std::array<ElementType, 21> types = {T::float32,  T::float16, T::int32,   T::uint8, T::int64,   T::int32,
                                                 T::boolean,  T::int16,   T::float64, T::int8,  T::float64, T::float64,
                                                 T::int64,    T::int32,   T::int32,   T::int32, T::int16,   T::int8,
                                                 T::bfloat16, T::int8,    T::int8};
  return type >= 0 && type < static_cast<int>(types.size()) ? types[static_cast<std::size_t>(type)] : T::int32;
}

/// A run of a loop's body: the tensors that it takes and gives, and what it computes.
struct Iteration {
  std::vector<std::int32_t> inputs, outputs;
  std::vector<TfliteOperator> operators;
};

template <class T>
std::int64_t number_at(FlatFile& file, std::uint64_t place) {
  return file.number<T>(place);
}

std::optional<std::int64_t> single_number(const TfliteFile& file, std::int32_t tensor) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  if (tensor < 0) return std::nullopt;
  const auto numbers = integers_of(file, file.tensors[static_cast<std::size_t>(tensor)]);
  const bool usual = numbers && numbers->size() == 1 && numbers->front() < most && numbers->front() > -most;
  return usual ? std::optional(numbers->front()) : std::nullopt;
}

/// What an iteration adds to what it takes as `tensor`, 0 where it leaves that alone; nothing where it does more.
std::optional<std::int64_t> step_of(const TfliteFile& file, const Iteration& iteration, std::int32_t tensor) {
  if (std::count(iteration.inputs.begin(), iteration.inputs.end(), tensor) == 0) return 0;
  std::optional<std::int64_t> step;
  for (std::size_t i = 0; i < iteration.inputs.size(); ++i) {
    if (iteration.inputs[i] != tensor) continue;
    std::optional<std::int64_t> own;
    if (iteration.outputs[i] == tensor) own = 0;
    for (const TfliteOperator& op : iteration.operators) {
      const bool counts = (op.code == add || op.code == sub) && op.inputs.size() == 2;
      if (!counts || op.outputs.front() != iteration.outputs[i]) continue;
      if (op.inputs[0] == tensor) own = single_number(file, op.inputs[1]);
      if (op.inputs[1] == tensor && op.code == add) own = single_number(file, op.inputs[0]);
      if (own && op.code == sub) own = -*own;
    }
    if (!own || (step && step != own)) return std::nullopt;
    step = own;
  }
  return step;
}

/// How often a loop runs that counts by a constant while its condition finds it less or greater; nothing for others.
std::optional<std::int64_t> iteration_count(const TfliteFile& file, const std::vector<TfliteOperator>& condition,
                                            const Iteration& iteration) {
  constexpr std::int32_t less = 58, greater = 61, greater_equal = 62, less_equal = 63, logical_and = 86;
  std::optional<std::int64_t> least;
  for (const TfliteOperator& op : condition) {
    if (op.code == logical_and) continue;
    const bool reversed = op.code == greater || op.code == greater_equal, equal = op.code > greater;
    if ((!reversed && op.code != less && op.code != less_equal) || op.inputs.size() != 2) return std::nullopt;
    const std::int32_t low = op.inputs[reversed ? 1 : 0], high = op.inputs[reversed ? 0 : 1];
    const auto start = single_number(file, low), limit = single_number(file, high);
    const auto up = step_of(file, iteration, low), down = step_of(file, iteration, high);
    if (!start || !limit || !up || !down || *up <= *down) return std::nullopt;
    const std::int64_t room = *limit + (equal ? 1 : 0) - *start;
    const std::int64_t count = room <= 0 ? 0 : (room - 1) / (*up - *down) + 1;
    least = std::min(least.value_or(count), count);
  }
  return least;
}

class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) { file_.bytes = std::make_unique<FlatFile>(path); }

  TfliteFile read() {
    const FlatTable model = FlatTable::root(*file_.bytes);
    const auto version = model.number<std::uint32_t>(field::model_version);
    if (version != schema_version) {
      reject({"its schema has version ", version, "; expected ", schema_version,
              ": convert it by a TensorFlow from 1.10 on"});
    }
    const FlatVector graphs = model.vector(field::model_subgraphs, 4);
    if (graphs.length == 0) throw FormatError("it has no subgraph");
    read_codes(model);
    graphs_ = graphs;
    const FlatTable graph = model.element(graphs, 0);
    const Places places = read_tensors(model, graph, {});
    read_operators(model, graph, places, 0);
    file_.inputs = tensors_of(graph, field::graph_inputs, places);
    file_.outputs = tensors_of(graph, field::graph_outputs, places);
    if (model.vector(field::model_signatures, 4).length > 1) {
      file_.remarks.push_back("it has several signatures: what the first subgraph computes is counted, and no other");
    }
    return std::move(file_);
  }

 private:
  struct Code {
    std::int32_t code;
    std::string custom;
  };

  using Places = std::vector<std::int32_t>;  ///< of the tensors of a subgraph among those of the file

  void read_codes(const FlatTable& model) {
    const FlatVector codes = model.vector(field::model_codes, 4);
    if (codes.length > operator_limit) throw FormatError("it has more kinds of operators than we read");
    for (std::uint64_t i = 0; i < codes.length; ++i) {
      const FlatTable code = model.element(codes, i);
      const std::int32_t old = code.number<std::int8_t>(field::code_old);
      const auto builtin = code.number<std::int32_t>(field::code_builtin);
      codes_.push_back(
          {old < placeholder ? std::max(old, builtin) : builtin, excerpt(code.text(field::code_custom), longest_name)});
    }
  }

  /// Adds the tensors of a subgraph to those of the file, but for those that are `bound` to one of them.
  Places read_tensors(const FlatTable& model, const FlatTable& graph,
                      const std::map<std::int32_t, std::int32_t>& bound) {
    const FlatVector tensors = graph.vector(field::graph_tensors, 4), buffers = model.vector(field::model_buffers, 4);
    if (tensors.length > most_tensors - file_.tensors.size()) reject({"it has more than ", most_tensors, " tensors"});
    Places places;
    for (std::uint64_t i = 0; i < tensors.length; ++i) {
      const auto found = bound.find(static_cast<std::int32_t>(i));
      places.push_back(found == bound.end() ? static_cast<std::int32_t>(file_.tensors.size()) : found->second);
      if (found == bound.end()) file_.tensors.push_back(read_tensor(graph.element(tensors, i), model, buffers));
    }
    return places;
  }

  TfliteTensor read_tensor(const FlatTable& from, const FlatTable& model, const FlatVector& buffers) const {
    TfliteTensor tensor;
    tensor.name = excerpt(from.text(field::tensor_name), longest_name);
    for (const std::int32_t dimension : from.integers(field::tensor_shape)) tensor.shape.push_back(dimension);
    for (const std::int32_t dimension : from.integers(field::tensor_signature)) tensor.signature.push_back(dimension);
    if (tensor.signature.size() != tensor.shape.size()) tensor.signature.clear();
    tensor.file_type = from.number<std::int8_t>(field::tensor_type);
    tensor.type = element_type(tensor.file_type);
    const auto buffer = from.number<std::uint32_t>(field::tensor_buffer);
    tensor.variable = from.number<std::uint8_t>(field::tensor_variable) != 0;
    if (buffer > 0 && buffer >= buffers.length) {
      reject({"damaged: tensor '", tensor.name, "' has buffer ", buffer, " of ", buffers.length});
    }
    if (buffer > 0 && !tensor.variable) read_data(model.element(buffers, buffer), tensor);
    return tensor;
  }

  FlatTable subgraph(const FlatTable& model, std::int32_t number) const {
    if (number < 1 || static_cast<std::uint64_t>(number) >= graphs_.length) {
      reject({"damaged: there is no subgraph ", number});
    }
    return model.element(graphs_, static_cast<std::uint64_t>(number));
  }

  /// The bytes of a buffer, which lie behind the tables in a file of more than 2 GiB.
  void read_data(const FlatTable& buffer, TfliteTensor& tensor) const {
    tensor.data = buffer.vector(field::buffer_data, 1);
    const auto offset = buffer.number<std::uint64_t>(field::buffer_offset);
    if (tensor.data.length == 0 && offset > 1) {
      tensor.data = {offset, buffer.number<std::uint64_t>(field::buffer_size)};
      if (offset > file_.bytes->size() || tensor.data.length > file_.bytes->size() - offset) {
        reject({"cut short: the data of tensor '", tensor.name, "' end beyond the file"});
      }
    }
    tensor.has_data = tensor.data.length > 0;
  }

  /// The operators of a subgraph. What it runs of other subgraphs stands in the place of the operator that runs them.
  void read_operators(const FlatTable& model, const FlatTable& graph, const Places& places, int depth) {
    constexpr std::int32_t call = 31, composite = 206;
    const FlatVector operators = graph.vector(field::graph_operators, 4);
    operators_ += operators.length;
    if (operators_ > operator_limit) reject({"it has more than ", operator_limit, " operators"});
    for (std::uint64_t i = 0; i < operators.length; ++i) {
      const FlatTable from = graph.element(operators, i);
      const auto code = from.number<std::uint32_t>(field::operator_code);
      if (code >= codes_.size()) reject({"damaged: operator ", i, " has no kind"});
      TfliteOperator op = {codes_[code].code, codes_[code].custom, tensors_of(from, field::operator_inputs, places, -1),
                           tensors_of(from, field::operator_outputs, places), from.table(field::operator_options)};
      if (op.code == tflite::code::custom) op.custom_bytes = from.vector(field::operator_custom_options, 1).length;
      const auto body = [&](int option) {
        const std::optional<FlatTable> options =
            op.code == composite ? from.table(field::operator_options_2) : op.options;
        return subgraph(model, options ? options->number<std::int32_t>(option) : 0);
      };
      if (op.code == call || op.code == composite) {
        hand_on(read_body(model, body(op.code == call ? 0 : 1), op.inputs, depth + 1), op.outputs);
      } else if (op.code == branch) {
        read_branches(model, {body(0), body(1)}, op, depth + 1);
      } else if (op.code == loop) {
        read_loop(model, {body(0), body(1)}, op, depth + 1);
      } else {
        file_.operators.push_back(std::move(op));
      }
    }
  }

  /// Adds the operators of the subgraph `graph`, which takes `inputs`, and returns what it gives.
  Places read_body(const FlatTable& model, const FlatTable& graph, const Places& inputs, int depth) {
    constexpr int deepest = 16;
    if (depth > deepest) reject({"its subgraphs are nested more than ", deepest, " deep"});
    const Places own = graph.integers(field::graph_inputs);
    if (own.size() != inputs.size()) throw FormatError("damaged: a call and its subgraph have different inputs");
    std::map<std::int32_t, std::int32_t> bound;
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (inputs[i] < 0) throw FormatError("damaged: a call leaves out an input of its subgraph");
      bound[own[i]] = inputs[i];
    }
    const Places places = read_tensors(model, graph, bound);
    read_operators(model, graph, places, depth);
    return tensors_of(graph, field::graph_outputs, places);
  }

  void hand_on(const Places& from, const Places& to) {
    if (from.size() != to.size()) throw FormatError("damaged: a call and its subgraph have different outputs");
    operators_ += to.size();
    for (std::size_t i = 0; i < to.size(); ++i) {
      file_.operators.push_back({tflite::code::fake_quant, {}, {from[i]}, {to[i]}, {}, {}});
    }
  }

  void read_branches(const FlatTable& model, const std::array<FlatTable, 2>& graphs, const TfliteOperator& op,
                     int depth) {
    if (op.inputs.empty()) throw FormatError("damaged: a branch has no condition");
    const Places inputs(op.inputs.begin() + 1, op.inputs.end());
    std::array<Places, 2> given;
    std::array<std::size_t, 3> branches = {file_.operators.size(), 0, 0};
    for (std::size_t i = 0; i < graphs.size(); ++i) {
      given[i] = read_body(model, graphs[i], inputs, depth);
      branches[i + 1] = file_.operators.size();
      if (given[i].size() != op.outputs.size()) throw FormatError("damaged: a branch has not the outputs of its If");
    }
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      file_.operators.push_back({branch, {}, {given[0][i], given[1][i]}, {op.outputs[i]}, {}, branches});
    }
  }

  void read_loop(const FlatTable& model, const std::array<FlatTable, 2>& graphs, const TfliteOperator& op, int depth) {
    if (op.inputs.empty()) throw FormatError("damaged: a loop takes nothing");
    const auto before = static_cast<std::ptrdiff_t>(file_.operators.size());
    read_body(model, graphs[0], op.inputs, depth);
    const std::vector<TfliteOperator> condition(file_.operators.begin() + before, file_.operators.end());
    file_.operators.erase(file_.operators.begin() + before, file_.operators.end());
    Places state = read_body(model, graphs[1], op.inputs, depth);
    if (state.size() != op.inputs.size()) throw FormatError("damaged: a loop does not hand on what it takes");
    const Iteration iteration = {op.inputs, state, {file_.operators.begin() + before, file_.operators.end()}};
    const std::optional<std::int64_t> count = iteration_count(file_, condition, iteration);
    const auto name = static_cast<std::size_t>(op.outputs.empty() ? op.inputs.front() : op.outputs.front());
    if (!count) file_.remarks.push_back(remark_on_open_loop("While", file_.tensors[name].name));
    if (count == 0) {
      file_.operators.erase(file_.operators.begin() + before, file_.operators.end());
      state = op.inputs;
    }
    for (std::int64_t i = 1; i < count.value_or(1); ++i) state = read_body(model, graphs[1], state, depth);
    hand_on(state, op.outputs);
  }

  static std::vector<std::int32_t> tensors_of(const FlatTable& table, int number, const Places& places, int least = 0) {
    std::vector<std::int32_t> tensors = table.integers(number);
    for (std::int32_t& tensor : tensors) {
      if (tensor < least || tensor >= static_cast<std::int64_t>(places.size())) {
        reject({"damaged: there is no tensor ", tensor});
      }
      if (tensor >= 0) tensor = places[static_cast<std::size_t>(tensor)];
    }
    return tensors;
  }

  TfliteFile file_;
  std::vector<Code> codes_;
  FlatVector graphs_;
  std::uint64_t operators_ = 0;
};

}  // namespace

TfliteFile read_tflite_file(const std::filesystem::path& path) {
  Reader reader(path);
  const std::optional<FileKind> kind = file_kind(path);
  const std::string expected = "a TensorFlow Lite model";
  if (!kind || kind->what != expected) {
    throw FormatError(
        other_kind_message(path, expected).value_or("'" + path.string() + "' is no TensorFlow Lite model"));
  }
  try {
    return reader.read();
  } catch (const FormatError& error) {
    reject({"'", path.string(), "': ", error.what()});
  }
}

std::optional<std::vector<std::int64_t>> integers_of(const TfliteFile& file, const TfliteTensor& tensor) {
  constexpr std::uint64_t most = 1024;
  static const std::map<int, std::pair<std::uint64_t, std::int64_t (*)(FlatFile&, std::uint64_t)>> types = {
      {2, {4, number_at<std::int32_t>}},
      {3, {1, number_at<std::uint8_t>}},
      {4, {8, number_at<std::int64_t>}},
      {7, {2, number_at<std::int16_t>}},
      {9, {1, number_at<std::int8_t>}}};
  const auto type = types.find(tensor.file_type);
  if (!tensor.has_data || type == types.end()) return std::nullopt;
  const auto& [bytes, number] = type->second;
  const std::uint64_t count = tensor.data.length / bytes;
  if (count > most || count != static_cast<std::uint64_t>(element_count(tensor.shape))) return std::nullopt;
  file.bytes->count_listed(count);
  std::vector<std::int64_t> numbers;
  for (std::uint64_t i = 0; i < count; ++i) numbers.push_back(number(*file.bytes, tensor.data.place + i * bytes));
  return numbers;
}

}  // namespace tenshot::nasbench
