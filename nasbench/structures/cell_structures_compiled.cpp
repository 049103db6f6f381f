#include "nasbench/structures/cell_structures.h"

namespace tenshot::nasbench {
namespace {

/// One value of a compiled cell: what computes it, from which values. A skip has no value of its own.
struct Value {
  /// The input, then what count_values() counts, in its order.
  enum class Kind : std::uint8_t { input, relu, convolution_1x1, convolution_3x3, pool, multiply, add };
  Kind kind = Kind::input;
  std::int8_t first = -1;
  std::int8_t second = -1;  ///< of an addition
};

/// A cell as values in order of execution, equal ones once (value numbering: Muchnick, Advanced Compiler Design and
/// Implementation, 1997, §12.4). At most: the input, one ReLU and one operation an edge, three additions.
struct CompiledCell {
  std::array<Value, 1 + 2 * edge_count + 3> values{};
  int size = 1;     ///< value 0 is the input
  int output = -1;  ///< -1: nothing reaches it

  int append(Value value) {
    values[size] = value;
    return size++;
  }
  int once(Value value) {
    for (int v = 1; v < size; ++v) {
      const Value& other = values[v];
      if (other.kind == value.kind && other.first == value.first && other.second == value.second) return v;
    }
    return append(value);
  }
  /// How many of the values after value `w` read value `v`.
  int readers_after(int w, int v) const {
    return static_cast<int>(std::count_if(values.begin() + w + 1, values.begin() + size,
                                          [&](const Value& value) { return value.first == v || value.second == v; }));
  }
  /// Value `v` becomes part of an earlier one: who read `v` reads `into`, and the values after `v` move up.
  void fold(int v, int into) {
    const auto renumbered = [&](int w) { return static_cast<std::int8_t>(w == v ? into : w > v ? w - 1 : w); };
    for (int w = v + 1; w < size; ++w) {
      values[w - 1] = {values[w].kind, renumbered(values[w].first), renumbered(values[w].second)};
    }
    --size;
    output = renumbered(output);
  }
};

bool is_convolution(const Value& value) {
  return value.kind == Value::Kind::convolution_1x1 || value.kind == Value::Kind::convolution_3x3;
}

int compile_operation(CompiledCell& compiled, Operation operation, int source) {
  const auto from = static_cast<std::int8_t>(source);
  switch (operation) {
    case Operation::skip_connect: return source;
    case Operation::none: return compiled.once({Value::Kind::multiply, from});
    case Operation::avg_pool_3x3: return compiled.once({Value::Kind::pool, from});
    case Operation::nor_conv_1x1:
    case Operation::nor_conv_3x3: break;
  }
  const auto relu = static_cast<std::int8_t>(compiled.once({Value::Kind::relu, from}));
  const bool small = operation == Operation::nor_conv_1x1;
  return compiled.append({small ? Value::Kind::convolution_1x1 : Value::Kind::convolution_3x3, relu});
}

/// Weights absorb a multiplication by a constant where nothing else reads the convolution.
void fold_multiplications(CompiledCell& compiled) {
  for (int v = compiled.size - 1; v > 0; --v) {
    const Value& value = compiled.values[v];
    if (value.kind != Value::Kind::multiply || !is_convolution(compiled.values[value.first])) continue;
    if (compiled.readers_after(0, value.first) == 1) compiled.fold(v, value.first);
  }
}

/// The cell with only the edges of `set`; an edge outside of it does not exist (it is not even a zero).
CompiledCell compile(const Cell& cell, EdgeSet set) {
  CompiledCell compiled;
  std::array<int, node_count> node = {0, -1, -1, -1};
  for (std::size_t e = 0; e < edge_count; ++e) {
    const int source = node[edges[e].source];
    if ((set >> e & 1U) == 0 || source < 0) continue;
    const int value = compile_operation(compiled, cell[e], source);
    int& sum = node[edges[e].target];
    sum = sum < 0 ? value
                  : compiled.once({Value::Kind::add, static_cast<std::int8_t>(sum), static_cast<std::int8_t>(value)});
  }
  compiled.output = node[node_count - 1];
  fold_multiplications(compiled);
  return compiled;
}

CellCounts count_values(const CompiledCell& compiled) {
  constexpr std::array<double CellCounts::*, 6> fields = {&CellCounts::relu,     &CellCounts::conv_1x1,
                                                          &CellCounts::conv_3x3, &CellCounts::pool,
                                                          &CellCounts::multiply, &CellCounts::add};
  CellCounts counts;
  for (int v = 1; v < compiled.size; ++v) ++(counts.*fields[static_cast<std::size_t>(compiled.values[v].kind) - 1]);
  return counts;
}

constexpr EdgeSet all_edges = (1U << edge_count) - 1;

struct Tensor {
  bool blocked = false;
  bool accumulates = false;  ///< a convolution that has not absorbed an addition yet
  bool folds_relu = false;   ///< a convolution, with or without an addition in it
};

/// One pass over the values of a cell in order of execution: layouts, conversions and what folds away.
class LayoutPass {
 public:
  LayoutPass(const CompiledCell& compiled, Tensor input) : compiled_(compiled), counts_(count_values(compiled)) {
    for (int v = 1; v < compiled.size; ++v) {
      ++readers_[compiled.values[v].first];
      if (compiled.values[v].kind == Value::Kind::add) ++readers_[compiled.values[v].second];
    }
    ++readers_[compiled.output];  // the next cell
    tensors_[0] = input;
    for (int v = 1; v < compiled.size; ++v) place(v);
  }

  const CellCounts& counts() const { return counts_; }
  const Tensor& output() const { return tensors_[compiled_.output]; }

 private:
  void place(int v) {
    const Value& value = compiled_.values[v];
    switch (value.kind) {
      case Value::Kind::input: break;
      case Value::Kind::relu: place_relu(v, value.first); break;
      case Value::Kind::convolution_1x1:
      case Value::Kind::convolution_3x3:
        read(value.first, true);
        tensors_[v] = {true, true, true};
        break;
      case Value::Kind::pool:
        read(value.first, true);
        tensors_[v] = {true, false, false};
        break;
      case Value::Kind::multiply: read(value.first, false); break;
      case Value::Kind::add: place_add(v, value.first, value.second); break;
    }
  }

  void place_relu(int v, int source) {
    tensors_[v].blocked = tensors_[source].blocked;
    if (tensors_[source].folds_relu && readers_[source] == 1) --counts_.relu;
  }

  void place_add(int v, int first, int second) {
    if (!tensors_[first].blocked || !tensors_[second].blocked) {
      read(first, false);
      read(second, false);
      return;
    }
    tensors_[v].blocked = true;
    for (const int operand : {first, second}) {
      if (!tensors_[operand].accumulates || readers_[operand] != 1) continue;
      --counts_.add;
      tensors_[v].folds_relu = true;
      return;
    }
  }

  /// Counts the conversion of a tensor that is in the other layout, once.
  void read(int v, bool blocked) {
    if (tensors_[v].blocked == blocked || converted_[v]) return;
    converted_[v] = true;
    ++counts_.reorder;
  }

  const CompiledCell& compiled_;
  CellCounts counts_;
  std::array<Tensor, 1 + 2 * edge_count + 3> tensors_{};
  std::array<int, 1 + 2 * edge_count + 3> readers_{};
  std::array<bool, 1 + 2 * edge_count + 3> converted_{};
};

}  // namespace

CellCounts cse_structure(const Cell& cell) { return count_values(compile(cell, all_edges)); }

CellCounts live_cse_structure(const Cell& cell) { return count_values(compile(cell, live_edges(cell))); }

CellCounts in_place_structure(const Cell& cell) {
  const CompiledCell compiled = compile(cell, all_edges);
  CellCounts counts = count_values(compiled);
  for (int v = 1; v < compiled.size; ++v) {
    const Value& value = compiled.values[v];
    if (value.kind == Value::Kind::multiply && compiled.readers_after(v, value.first) > 0) ++counts.reorder;
  }
  return counts;
}

CellCounts layout_structure(const Cell& cell) {
  const CompiledCell compiled = compile(cell, all_edges);
  CellCounts mean;
  Tensor input = {true, false, true};  // a stage begins with the stem or a residual block: convolutions
  for (int c = 0; c < cells_per_stage; ++c) {
    const LayoutPass pass(compiled, input);
    for (const auto field : cell_count_fields) mean.*field += 1.0 / cells_per_stage * pass.counts().*field;
    input = pass.output();
  }
  return mean;
}

}  // namespace tenshot::nasbench
