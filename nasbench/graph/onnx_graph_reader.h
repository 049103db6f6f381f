#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "nasbench/graph/onnx_file.h"
#include "nasbench/graph/onnx_reader.h"
#include "nasbench/graph/onnx_scopes.h"

namespace tenshot::nasbench {

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
  using Inputs = std::vector<const OnnxValue*>;

  // onnx_inputs.cpp: constants and inputs
  void read_constants();
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

  // onnx_graph_reader.cpp: nodes
  void read_node(const onnx::NodeProto& node);
  void count_step();
  void count_work(std::size_t items);
  std::vector<const OnnxValue*> outer_values(const onnx::NodeProto& node);
  bool read_special(const onnx::NodeProto& node, const Inputs& inputs);
  bool read_folded(const onnx::NodeProto& node, const Inputs& inputs);
  void set_alias(const onnx::NodeProto& node, OnnxValue value);
  void set(const onnx::NodeProto& node, int output, OnnxValue value);
  void set_constants(const onnx::NodeProto& node, const Inputs& inputs, std::vector<OnnxValue> outputs);
  bool is_read(const onnx::NodeProto& node, int output) const;
  void add_operator(const onnx::NodeProto& node, const Inputs& inputs, const std::vector<OnnxValue>& outputs);
  bool add_composed(const onnx::NodeProto& node, const Inputs& inputs, const std::vector<OnnxValue>& outputs,
                    const NetworkNode& plain);
  Source append(NetworkNode node, const std::string& name);
  std::string unique_name(const std::string& base);

  // onnx_types.cpp: types of outputs, and what nobody can say of them
  std::optional<std::vector<OnnxValue>> output_types(const onnx::NodeProto& node, const Inputs& inputs);
  std::optional<OnnxValue> declared(const onnx::NodeProto& node, int output) const;
  void leave_out(const onnx::NodeProto& node, const Inputs& inputs);
  void read_outputs();
  void remark_on_outputs();
  void remark_on_what_is_left_out();

  // onnx_bodies.cpp: branches, loops, functions
  bool read_body_of(const onnx::NodeProto& node, const Inputs& inputs);
  bool read_function(const onnx::NodeProto& node, const Inputs& inputs);
  void read_if(const onnx::NodeProto& node, const OnnxValue& condition);
  bool read_loop(const onnx::NodeProto& node, const Inputs& inputs);
  bool read_scan(const onnx::NodeProto& node, const Inputs& inputs);
  std::vector<OnnxValue> scan(const onnx::NodeProto& node, const std::vector<OnnxValue>& inputs);
  const OnnxBody& body_of(const onnx::NodeProto& node, const char* name);
  const OnnxBody& body_of(OnnxFunction& function, const onnx::NodeProto& call);
  std::vector<OnnxValue> run(const OnnxBody& body, const std::vector<OnnxValue>& arguments);
  OnnxValue stacked(const onnx::NodeProto& node, const std::vector<OnnxValue>& parts, std::size_t axis, bool is_new);
  OnnxValue element(const onnx::NodeProto& node, const OnnxValue& whole, std::size_t axis, std::int64_t index);

  // onnx_sequences.cpp
  bool read_sequence(const onnx::NodeProto& node, const Inputs& inputs);
  bool read_split_to_sequence(const onnx::NodeProto& node, const Inputs& inputs);
  bool read_sequence_map(const onnx::NodeProto& node, const Inputs& inputs);
  bool read_split(const onnx::NodeProto& node, const Inputs& inputs);

  OnnxFile file_;
  const OnnxReadOptions& options_;
  OnnxScopes scopes_;
  std::unordered_map<std::string, std::int64_t> symbols_;
  std::set<std::string> read_names_;  ///< that a node or an output of the file reads
  std::set<std::string> names_;
  std::unordered_map<std::string, std::size_t> repeats_;
  std::size_t steps_ = 0;  ///< nodes that were read, each as often as it was
  std::size_t work_ = 0;   ///< what else was looked at, see count_work()
  std::map<const onnx::GraphProto*, OnnxBody> bodies_;
  std::map<std::string, OnnxFunction> functions_;
  std::map<const onnx::NodeProto*, OnnxCall> calls_;
  std::string origin_;  ///< that of the body which is being read
  std::vector<std::string> causes_, left_out_;
  std::map<std::string, std::int64_t> trained_, left_out_weights_;  ///< elements of the file's trained tensors
  std::set<Source> boundary_;                                       ///< what is left out reads these
  Network network_;
};

}  // namespace tenshot::nasbench
