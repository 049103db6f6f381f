#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "datasets/tables/csv.h"
#include "datasets/tables/network_sources.h"
#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot::datasets {
namespace {

using nasbench::OperatorKind;
using nasbench::OperatorSpecification;

constexpr std::string_view expected_columns =
    "network,index,operation,input_size,input_channels,output_size,stride,kernel,filters,groups";
constexpr std::array<std::string_view, 8> activations = {"relu", "relu6",   "hard_swish", "hard_sigmoid",
                                                         "silu", "sigmoid", "gelu",       "tanh"};

/// Largest value of a field, so that nothing that is computed from a row leaves 64 bits.
constexpr long long largest_size = 1 << 14, largest_channels = 1 << 17, largest_window = 1 << 10;

struct Columns {
  explicit Columns(const CsvReader& csv)
      : network(csv.require("network", expected_columns)),
        operation(csv.require("operation", expected_columns)),
        index(csv.find("index")),
        input_size(csv.require("input_size", expected_columns)),
        input_channels(csv.require("input_channels", expected_columns)),
        output_size(csv.require("output_size", expected_columns)),
        stride(csv.find("stride")),
        kernel(csv.find("kernel")),
        filters(csv.find("filters")),
        groups(csv.find("groups")) {}
  std::size_t network, operation;
  std::optional<std::size_t> index;
  std::size_t input_size, input_channels, output_size;
  std::optional<std::size_t> stride, kernel, filters, groups;
};

/// One row of the table.
class Row {
 public:
  Row(const CsvReader& csv, const Columns& columns) : csv_(csv), columns_(columns) {}

  std::string_view text(std::size_t column) const { return trimmed(csv_.fields()[column]); }

  /// The number in a field, or nothing where it is empty.
  std::optional<int> number(std::optional<std::size_t> column, long long least, long long most) const {
    if (!column || text(*column).empty()) return std::nullopt;
    const std::optional<long long> value = parse_integer(text(*column));
    if (value && *value >= least && *value <= most) return static_cast<int>(*value);
    fail(*column, "'" + excerpt(text(*column)) + "', expected a whole number from " + std::to_string(least) + " to " +
                      std::to_string(most));
  }

  int required(std::size_t column, long long most) const {
    if (const std::optional<int> value = number(column, 1, most)) return *value;
    fail(column, "empty, which " + std::string(text(columns_.operation)) + " needs");
  }

  [[noreturn]] void fail(std::size_t column, const std::string& what) const {
    throw InputError(place() + "column " + csv_.header()[column] + ": is " + what);
  }
  std::string place() const { return csv_.file() + ":" + std::to_string(csv_.line()) + ": "; }

  OperatorSpecification specification() const {
    const std::string_view operation = text(columns_.operation);
    if (operation == "conv_2d" || operation == "conv_2d_group" || operation == "convolution") {
      return convolution(required(*filters_column(), largest_channels),
                         number(columns_.groups, 1, largest_channels).value_or(1));
    }
    if (operation == "depthwise_conv_2d") return depthwise();
    if (operation == "fully_connected" || operation == "linear") return linear();
    if (operation == "max_pool_2d" || operation == "max_pool") return pool(OperatorKind::max_pool);
    if (operation == "average_pool_2d" || operation == "average_pool") return pool(OperatorKind::average_pool);
    if (operation == "mean" || operation == "global_pool") {
      OperatorSpecification op = of_kind(OperatorKind::global_pool);
      op.inputs = {input()};
      op.output = {1, op.inputs[0][1]};
      return op;
    }
    if (operation == "concatenation" || operation == "concatenate") return concatenation();
    return elementwise(operation);
  }

 private:
  std::optional<std::size_t> filters_column() const {
    if (columns_.filters) return columns_.filters;
    throw InputError(csv_.file() + ": the header has no column filters; expected " + std::string(expected_columns));
  }

  static OperatorSpecification of_kind(OperatorKind kind) {
    OperatorSpecification op;
    op.kind = kind;
    return op;
  }

  nasbench::Shape input() const {
    const int size = required(columns_.input_size, largest_size);
    return {1, required(columns_.input_channels, largest_channels), size, size};
  }
  nasbench::Shape output(int channels) const {
    const int size = required(columns_.output_size, largest_size);
    return {1, channels, size, size};
  }

  void set_window(OperatorSpecification& op) const {
    const int kernel = number(columns_.kernel, 1, largest_window).value_or(1);
    const int stride = number(columns_.stride, 1, largest_window).value_or(1);
    op.kernel = {kernel, kernel};
    op.stride = {stride, stride};
  }

  OperatorSpecification convolution(int channels, int groups) const {
    OperatorSpecification op = of_kind(OperatorKind::convolution);
    op.inputs = {input()};
    op.output = output(channels);
    op.groups = groups;
    op.bias = true;
    set_window(op);
    if (op.inputs[0][1] % groups == 0 && channels % groups == 0) return op;
    throw InputError(place() + std::to_string(groups) + " groups do not divide " + std::to_string(op.inputs[0][1]) +
                     " input and " + std::to_string(channels) + " output channels");
  }

  OperatorSpecification depthwise() const {
    const int channels = required(columns_.input_channels, largest_channels);
    const int filters = number(columns_.filters, 1, largest_channels).value_or(1);
    const long long out = filters % channels == 0 ? filters : static_cast<long long>(channels) * filters;
    if (out > largest_channels) fail(*columns_.filters, "too large: it multiplies the channels");
    return convolution(static_cast<int>(out), channels);
  }

  OperatorSpecification linear() const {
    OperatorSpecification op = of_kind(OperatorKind::linear);
    op.inputs = {{1, required(columns_.input_channels, largest_size * largest_channels / largest_window)}};
    op.output = {1, required(*filters_column(), largest_channels * 16)};
    op.bias = true;
    return op;
  }

  OperatorSpecification pool(OperatorKind kind) const {
    OperatorSpecification op = of_kind(kind);
    op.inputs = {input()};
    op.output = output(static_cast<int>(op.inputs[0][1]));
    set_window(op);
    return op;
  }

  /// The first input has `input_channels`; what else the output has comes from the others.
  OperatorSpecification concatenation() const {
    OperatorSpecification op = of_kind(OperatorKind::concatenate);
    const nasbench::Shape first = input();
    op.inputs = {first};
    op.output = output(number(columns_.filters, 1, largest_channels).value_or(static_cast<int>(first[1])));
    const int others = number(columns_.kernel, 1, largest_window).value_or(2) - 1;
    const std::int64_t left = op.output[1] - first[1];
    for (int i = 0; i < others && left >= others; ++i) {
      nasbench::Shape other = first;
      other[1] = left / others + (i < left % others ? 1 : 0);
      op.inputs.push_back(other);
    }
    return op;
  }

  OperatorSpecification elementwise(std::string_view operation) const {
    OperatorSpecification op = of_kind(OperatorKind::opaque);
    const bool activates = std::find(activations.begin(), activations.end(), operation) != activations.end();
    const bool joins = operation == "add" || operation == "multiply";
    if (activates) op.kind = OperatorKind::activation;
    const bool pads = operation == "pad";
    if (joins || pads) op.kind = nasbench::operator_kind(operation);
    if (!joins && !pads) op.name = excerpt(operation);
    op.inputs = {input()};
    if (joins) op.inputs.push_back(op.inputs[0]);
    op.output = op.inputs[0];
    if (const auto size = number(columns_.output_size, 1, largest_size)) op.output[2] = op.output[3] = *size;
    if (const auto filters = number(columns_.filters, 1, largest_channels)) op.output[1] = *filters;
    return op;
  }

  const CsvReader& csv_;
  const Columns& columns_;
};

bool has_window(const OperatorSpecification& op) {
  const bool slides = op.kind == OperatorKind::convolution || op.kind == OperatorKind::max_pool ||
                      op.kind == OperatorKind::average_pool;
  return slides && op.kernel.height > 1 && !op.inputs.empty() && op.inputs[0].size() == 4;
}

/// The largest of `sizes` that padding for the operator's window makes as large as its input; none where the input has
/// one of these sizes, or is larger than the window explains.
std::optional<std::int64_t> unpadded_size(const OperatorSpecification& op, const std::set<std::int64_t>& sizes) {
  const std::int64_t size = op.inputs[0][2];
  const auto at_least = sizes.lower_bound(size);
  if (at_least == sizes.begin() || sizes.count(size) != 0) return std::nullopt;
  const std::int64_t largest = *std::prev(at_least);
  if (size - largest >= op.kernel.height) return std::nullopt;
  return largest;
}

}  // namespace

std::vector<nasbench::NamedNetwork> parse_operator_table(std::string_view text, const std::string& file) {
  CsvReader csv(text, file);
  const Columns columns(csv);
  std::vector<std::string> names;
  std::map<std::string, std::vector<OperatorSpecification>, std::less<>> operators;
  std::map<std::string, int, std::less<>> last_index;
  while (csv.next()) {
    const Row row(csv, columns);
    if (csv.fields().size() != csv.header().size()) {
      throw InputError(row.place() + "the row has " + std::to_string(csv.fields().size()) +
                       " fields where the header has " + std::to_string(csv.header().size()));
    }
    const std::string name(row.text(columns.network));
    if (name.empty()) row.fail(columns.network, "empty, expected a network's name");
    if (row.text(columns.operation).empty()) row.fail(columns.operation, "empty, expected one such as conv_2d");
    if (operators.find(name) == operators.end()) names.push_back(name);
    if (const std::optional<int> index = row.number(columns.index, 0, 1'000'000'000)) {
      const auto [last, is_first] = last_index.emplace(name, *index);
      if (!is_first && *index <= last->second) {
        row.fail(*columns.index, std::to_string(*index) + " after " + std::to_string(last->second) +
                                     "; the rows of a network stand in the order of execution");
      }
      last->second = *index;
    }
    operators[name].push_back(row.specification());
  }
  if (names.empty())
    throw InputError(file + ": has no rows, expected one for each operator: " + std::string(expected_columns));
  std::vector<nasbench::NamedNetwork> networks;
  for (const std::string& name : names)
    networks.push_back(nasbench::named_network(name, std::move(operators[name]), file));
  return networks;
}

std::vector<OperatorSpecification> with_padding(std::vector<OperatorSpecification> operators) {
  std::vector<OperatorSpecification> padded;
  std::set<std::int64_t> sizes;  // heights of the images before
  for (OperatorSpecification& op : operators) {
    const std::optional<std::int64_t> size = has_window(op) ? unpadded_size(op, sizes) : std::nullopt;
    if (size) {
      OperatorSpecification pad;
      pad.kind = OperatorKind::pad;
      pad.output = op.inputs[0];
      pad.inputs = {{1, pad.output[1], *size, *size}};
      padded.push_back(std::move(pad));
    }
    if (op.output.size() == 4) sizes.insert(op.output[2]);
    padded.push_back(std::move(op));
  }
  return padded;
}

}  // namespace tenshot::datasets
