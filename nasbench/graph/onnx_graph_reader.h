#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/onnx_file.h"
#include "nasbench/graph/onnx_reader.h"
#include "nasbench/graph/onnx_values.h"

namespace tenshot::nasbench {

/// Tensors by name, those of a body above those of the graph around it. Needs ONNX's headers.
class OnnxScopes {
 public:
  OnnxScopes() : scopes_(1) {}

  /// A null pointer where nobody gives that name. Valid until the name is set again or its scope ends.
  const OnnxValue* find(const std::string& name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (const auto found = scope->values.find(name); found != scope->values.end()) return &found->second;
      if (scope->is_function) break;
    }
    return nullptr;
  }
  void set(const std::string& name, OnnxValue value) { scopes_.back().values[name] = std::move(value); }

  /// What the file says of a tensor of the innermost scope; a null pointer where it says nothing.
  const onnx::ValueInfoProto* declared(const std::string& name) const {
    const auto found = scopes_.back().declared.find(name);
    return found == scopes_.back().declared.end() ? nullptr : found->second;
  }
  void declare(const onnx::ValueInfoProto& value) { scopes_.back().declared.emplace(value.name(), &value); }

  /// A function sees no names from outside.
  void enter(bool is_function) {
    scopes_.emplace_back();
    scopes_.back().is_function = is_function;
  }
  void leave() { scopes_.pop_back(); }
  std::size_t depth() const { return scopes_.size(); }

 private:
  struct Scope {
    std::unordered_map<std::string, OnnxValue> values;
    std::unordered_map<std::string, const onnx::ValueInfoProto*> declared;
    bool is_function = false;
  };
  std::deque<Scope> scopes_;
};

/// Nodes that are read together: a branch, the body of a loop, a function.
struct OnnxBody {
  std::vector<const onnx::NodeProto*> nodes;
  std::vector<std::size_t> order;  ///< of execution
  std::vector<const onnx::TensorProto*> constants;
  std::vector<const onnx::ValueInfoProto*> declared;
  std::vector<std::string> inputs, outputs;
  std::string origin;  ///< what the names of its constants begin with: other bodies may have the same names
  bool is_function = false;
};

/// A function of the model.
struct OnnxFunction {
  onnx::FunctionProto* proto = nullptr;
  OnnxBody body;                     ///< made when it is first called
  std::vector<std::size_t> unbound;  ///< nodes that name attributes of the call
};

/// A function as it is called with certain attributes.
struct OnnxCall {
  std::deque<onnx::NodeProto> bound;
  OnnxBody body;
};

/// Reads the graph of a file into a network; see read_onnx. Bodies are read where they are run: a branch that is
/// chosen, each iteration of a loop, a function wherever it is called.
class OnnxGraphReader {
 public:
  OnnxGraphReader(OnnxFile file, const OnnxReadOptions& options);
  Network read();

 private:
  /// Reads a node of its kind, or says that it is none.
  using Read = bool(const onnx::NodeProto& node, const OnnxInputs& inputs);

  // onnx_inputs.cpp: constants and inputs
  void read_constant(const onnx::TensorProto& tensor);
  void read_inputs();
  void bind_symbols(const onnx::ValueInfoProto& input, const Shape& shape);
  void read_input(const onnx::ValueInfoProto& input);
  void read_weight(const onnx::ValueInfoProto& input);
  std::int64_t resolved(const std::string& input, const onnx::TensorShapeProto::Dimension& dimension, int index,
                        std::optional<std::int64_t> given);
  /// A shape that the input can have: what the file fixes stays, and what is known of its symbols.
  std::string example_of(const std::string& input) const;
  OnnxValue constant(const onnx::TensorProto& tensor, const std::string& name);
  OnnxValue stored_value(const onnx::NodeProto& node);
  void add_held(const onnx::NodeProto& node, const std::string& name, std::deque<OnnxValue>& held);

  // onnx_graph_reader.cpp: nodes
  void read_node(const onnx::NodeProto& node);
  void count_step();
  void count_work(std::size_t items);
  OnnxInputs outer_values(const onnx::NodeProto& node);
  Read read_special, read_folded;
  bool can_afford(const OnnxValue& value);
  void set_alias(const onnx::NodeProto& node, OnnxValue value);
  void set(const onnx::NodeProto& node, int output, OnnxValue value);
  void set_constants(const onnx::NodeProto& node, const OnnxInputs& inputs, OnnxValues outputs);
  bool is_read(const onnx::NodeProto& node, int output) const;
  void add_operator(const onnx::NodeProto& node, const OnnxInputs& inputs, const OnnxValues& outputs);
  NetworkNode foreign_operator(const onnx::NodeProto& node, OnnxInputs inputs, const OnnxValues& outputs);
  bool add_composed(const onnx::NodeProto& node, const OnnxInputs& inputs, const OnnxValues& outputs,
                    const NetworkNode& plain);
  Source append(const onnx::NodeProto& of, NetworkNode node);

  // onnx_blocked.cpp
  Read read_blocked;

  // onnx_types.cpp: types of outputs, and what nobody can say of them
  std::optional<OnnxValues> output_types(const onnx::NodeProto& node, const OnnxInputs& inputs);
  std::optional<OnnxValue> declared(const onnx::NodeProto& node, int output) const;
  void remark_on_type(int element);
  void leave_out(const onnx::NodeProto& node, OnnxInputs inputs);
  void read_outputs();
  void remark_on_outputs();
  void remark_on_what_is_left_out();

  // onnx_bodies.cpp: branches, loops, functions
  Read read_body_of, read_function, read_loop, read_scan;
  void read_if(const onnx::NodeProto& node, const OnnxValue& condition);
  std::optional<OnnxValues> run_if_readable(const OnnxBody& branch, std::string& fault);
  OnnxValues scan(const onnx::NodeProto& node, const OnnxValues& inputs);
  const OnnxBody& body_of(const onnx::NodeProto& node, const char* name);
  const OnnxBody& body_of(OnnxFunction& function, const onnx::NodeProto& call);
  OnnxValues run(const OnnxBody& body, const OnnxValues& arguments);
  OnnxValue stacked(const onnx::NodeProto& node, const OnnxValues& parts, std::size_t axis, bool is_new);
  OnnxValue element(const onnx::NodeProto& node, const OnnxValue& whole, std::size_t axis, std::int64_t index);

  // onnx_sequences.cpp
  Read read_sequence, read_sequence_map;
  std::optional<OnnxValue> sequence_value(const onnx::NodeProto& node, const OnnxInputs& inputs);
  std::optional<OnnxValue> split_sequence(const onnx::NodeProto& node, const OnnxInputs& inputs);

  OnnxFile file_;
  const OnnxReadOptions& options_;
  OnnxScopes scopes_;
  std::unordered_map<std::string, std::int64_t> symbols_;
  std::set<std::string> sequences_;   ///< inputs whose first dimension is time
  std::set<std::string> empty_;       ///< inputs that a Reshape makes a tensor without elements of
  std::set<std::string> read_names_;  ///< that a node or an output of the file reads
  std::size_t steps_ = 0;             ///< nodes that were read, each as often as it was
  std::size_t work_ = 0;              ///< what else was looked at, see count_work()
  std::size_t numbers_ = 0;           ///< of large constants that were kept or computed with, see can_afford()
  std::map<const onnx::GraphProto*, OnnxBody> bodies_;
  std::map<std::string, OnnxFunction> functions_;
  std::map<const onnx::NodeProto*, OnnxCall> calls_;
  std::string origin_;  ///< that of the body which is being read
  std::vector<std::string> causes_, left_out_;
  std::map<std::string, std::int64_t> trained_, left_out_weights_;  ///< elements of the file's trained tensors
  std::set<Source> boundary_;                                       ///< what is left out reads these
  NetworkBuilder builder_;
  Network& network_ = builder_.edit();
};

}  // namespace tenshot::nasbench
