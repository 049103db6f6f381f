#include <cmath>
#include <iterator>

#include "datasets/tables/csv.h"
#include "datasets/tables/network_sources.h"
#include "datasets/tables/operator_latencies.h"
#include "nasbench/support/files.h"
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
  const CsvReader& csv;
  std::size_t network = csv.require("network", expected_columns);
  std::size_t operation = csv.require("operation", expected_columns);
  std::size_t input_size = csv.require("input_size", expected_columns);
  std::size_t input_channels = csv.require("input_channels", expected_columns);
  std::size_t output_size = csv.require("output_size", expected_columns);
  std::optional<std::size_t> index = csv.find("index"), stride = csv.find("stride"), kernel = csv.find("kernel"),
                             filters = csv.find("filters"), groups = csv.find("groups");
};

class Row {
 public:
  explicit Row(const Columns& columns) : csv_(columns.csv), columns_(columns) {}

  std::string_view text(std::size_t column) const { return trimmed(csv_.fields()[column]); }

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
      const nasbench::Shape read = input();
      return of_kind(OperatorKind::global_pool, read, {1, read[1]});
    }
    if (operation == "concatenation" || operation == "concatenate") return concatenation();
    return elementwise(operation);
  }

 private:
  std::optional<std::size_t> filters_column() const {
    if (columns_.filters) return columns_.filters;
    throw InputError(csv_.file() + ": the header has no column filters; expected " + std::string(expected_columns));
  }

  static OperatorSpecification of_kind(OperatorKind kind, nasbench::Shape input, nasbench::Shape output) {
    OperatorSpecification op;
    op.kind = kind;
    op.inputs = {std::move(input)};
    op.output = std::move(output);
    return op;
  }

  nasbench::Shape input() const {
    const int size = required(columns_.input_size, largest_size);
    return {1, required(columns_.input_channels, largest_channels), size, size};
  }
  nasbench::Shape output(std::int64_t channels) const {
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
    const nasbench::Shape read = input();
    OperatorSpecification op = of_kind(OperatorKind::convolution, read, output(channels));
    op.groups = groups;
    op.bias = true;
    set_window(op);
    if (read[1] % groups == 0 && channels % groups == 0) return op;
    throw InputError(place() + std::to_string(groups) + " groups do not divide " + std::to_string(read[1]) +
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
    const int inputs = required(columns_.input_channels, largest_size * largest_channels / largest_window);
    const int outputs = required(*filters_column(), largest_channels * 16);
    OperatorSpecification op = of_kind(OperatorKind::linear, {1, inputs}, {1, outputs});
    op.bias = true;
    return op;
  }

  OperatorSpecification pool(OperatorKind kind) const {
    const nasbench::Shape read = input();
    OperatorSpecification op = of_kind(kind, read, output(read[1]));
    set_window(op);
    return op;
  }

  /// The first input has `input_channels`; what else the output has comes from the others.
  OperatorSpecification concatenation() const {
    const nasbench::Shape first = input();
    const auto filters = number(columns_.filters, 1, largest_channels);
    OperatorSpecification op = of_kind(OperatorKind::concatenate, first, output(filters ? *filters : first[1]));
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
    const nasbench::Shape read = input();
    OperatorSpecification op = of_kind(OperatorKind::opaque, read, read);
    const bool activates = std::find(activations.begin(), activations.end(), operation) != activations.end();
    const bool joins = operation == "add" || operation == "multiply";
    if (joins || operation == "pad") {
      op.kind = nasbench::operator_kind(operation);
    } else {
      op.kind = activates ? OperatorKind::activation : OperatorKind::opaque;
      op.name = excerpt(operation);
    }
    if (joins) op.inputs.push_back(read);
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

using OperatorSink = std::function<void(const std::string& network, OperatorSpecification operation, const Row& row)>;

void read_operator_rows(CsvReader& csv, const OperatorSink& take) {
  const Columns columns{csv};
  const Row row(columns);
  std::map<std::string, int> last_index;
  bool any = false;
  for (; csv.next(); any = true) {
    if (csv.fields().size() != csv.header().size()) {
      throw InputError(row.place() + "the row has " + std::to_string(csv.fields().size()) +
                       " fields where the header has " + std::to_string(csv.header().size()));
    }
    const std::string name(row.text(columns.network));
    if (name.empty()) row.fail(columns.network, "empty, expected a network's name");
    if (row.text(columns.operation).empty()) row.fail(columns.operation, "empty, expected one such as conv_2d");
    if (const std::optional<int> index = row.number(columns.index, 0, 1'000'000'000)) {
      const auto [last, is_first] = last_index.emplace(name, *index);
      if (!is_first && *index <= last->second) {
        row.fail(*columns.index, std::to_string(*index) + " after " + std::to_string(last->second) +
                                     "; the rows of a network stand in the order of execution");
      }
      last->second = *index;
    }
    take(name, row.specification(), row);
  }
  if (any) return;
  throw InputError(csv.file() + ": has no rows, expected one for each operator: " + std::string(expected_columns));
}

}  // namespace

std::vector<nasbench::NamedNetwork> parse_operator_table(std::string_view text, const std::string& file) {
  CsvReader csv(text, file);
  std::vector<std::string> names;
  std::map<std::string, std::vector<OperatorSpecification>> operators;
  read_operator_rows(csv, [&](const std::string& network, OperatorSpecification operation, const Row&) {
    if (operators.count(network) == 0) names.push_back(network);
    operators[network].push_back(std::move(operation));
  });
  std::vector<nasbench::NamedNetwork> networks;
  for (const std::string& name : names) {
    networks.push_back(nasbench::named_network(name, std::move(operators[name]), file));
  }
  return networks;
}

std::map<std::string, std::vector<OperatorLatency>> parse_operator_latencies(std::string_view text,
                                                                             const std::string& file,
                                                                             const ColumnOfDevice& columns) {
  CsvReader csv(text, file);
  std::map<std::string, std::size_t> places;
  for (const auto& [device, column] : columns) places[device] = csv.require(column, "a column of latencies in ms");
  std::map<std::string, std::vector<OperatorLatency>> latencies;
  const auto take = [&](const std::string& network, const OperatorSpecification& operation, const Row& row) {
    for (const auto& [device, place] : places) {
      const std::string_view field = row.text(place);
      if (field.empty()) continue;
      const auto value = parse_number(field);
      if (!value || !std::isfinite(*value) || *value <= 0) {
        row.fail(place, "'" + excerpt(field) + "', expected a positive number or nothing");
      }
      latencies[device].push_back({operation, *value, network});
    }
  };
  read_operator_rows(csv, take);
  return latencies;
}

std::map<std::string, std::vector<OperatorLatency>> read_operator_latencies(const std::filesystem::path& path,
                                                                            const ColumnOfDevice& columns) {
  return parse_operator_latencies(read_file(path), name_in_messages(path), columns);
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
