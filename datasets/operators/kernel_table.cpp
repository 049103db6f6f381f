#include "datasets/operators/kernel_table.h"

#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "datasets/tables/csv.h"
#include "descriptor/timing/timing.h"
#include "nasbench/graph/limits.h"
#include "nasbench/kernels/kernel_search.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot::datasets {
namespace {

using nasbench::Extent;

constexpr std::string_view columns =
    "kernel,operation,function,inputs,output,window,stride,dilation,groups,bias,isolation,purpose,latency_ms,"
    "deviation_ms,seconds,refused";
constexpr long long largest = std::numeric_limits<int>::max();

std::string text_of(const Extent& extent) { return std::to_string(extent.height) + "x" + std::to_string(extent.width); }

std::string plain(std::string text) {
  for (char& c : text) c = std::string_view(",\"\n\r").find(c) == std::string_view::npos ? c : ' ';
  return text;
}

class Reader {
 public:
  explicit Reader(CsvReader& csv) : csv_(csv) {}

  KernelRow row() const {
    KernelRow row;
    row.kernel = field("kernel", true);
    nasbench::OperatorSpecification& op = row.leading;
    const std::string_view operation = field("operation", true);
    try {
      op.kind = nasbench::operator_kind(operation);
    } catch (const InputError& error) {
      fail("operation", error.what());
    }
    op.name = field("function", false);
    for (const std::string_view shape : split(field("inputs", true), ' '))
      op.inputs.push_back(shape_of("inputs", shape));
    op.output = shape_of("output", field("output", true));
    op.kernel = extent("window");
    op.stride = extent("stride");
    op.dilation = extent("dilation");
    op.groups = static_cast<int>(whole("groups", field("groups", true), largest));
    op.bias = field("bias", false) == "1";
    if (!nasbench::is_countable(op)) fail("inputs", "so many products cannot be meant");
    row.isolation = field("isolation", false);
    row.purpose = field("purpose", false);
    row.refused = field("refused", false);
    row.latency_ms = row.refused.empty() ? positive("latency_ms", true) : std::nan("");
    row.deviation_ms = positive("deviation_ms", false);
    row.seconds = positive("seconds", false);
    return row;
  }

 private:
  [[noreturn]] void fail(std::string_view column, const std::string& why) const {
    throw InputError(csv_.file() + ":" + std::to_string(csv_.line()) + ": column '" + std::string(column) +
                     "': " + why);
  }

  std::string_view field(std::string_view column, bool required) const {
    const auto place = required ? std::optional(csv_.require(column, columns)) : csv_.find(column);
    if (!place) return {};
    if (*place >= csv_.fields().size()) fail(column, "the row ends before it");
    const std::string_view found = trimmed(csv_.fields()[*place]);
    if (required && found.empty()) fail(column, "is empty");
    return found;
  }

  long long whole(std::string_view column, std::string_view found, long long most) const {
    const auto value = parse_integer(found);
    if (value && *value >= 1 && *value <= most) return *value;
    fail(column, "'" + excerpt(found) + "', expected a whole number from 1 to " + std::to_string(most));
  }

  nasbench::Shape shape_of(std::string_view column, std::string_view found) const {
    nasbench::Shape shape;
    if (found == "scalar") return shape;
    for (const std::string_view size : split(found, 'x')) shape.push_back(whole(column, size, largest));
    try {
      nasbench::require_tensor_size(shape);
    } catch (const FormatError& error) {
      fail(column, error.what());
    }
    return shape;
  }

  Extent extent(std::string_view column) const {
    const auto parts = split(field(column, true), 'x');
    if (parts.size() != 2) fail(column, "'" + excerpt(field(column, true)) + "', expected height x width: 3x3");
    return {static_cast<int>(whole(column, parts[0], nasbench::widest_window)),
            static_cast<int>(whole(column, parts[1], nasbench::widest_window))};
  }

  double positive(std::string_view column, bool required) const {
    const std::string_view found = field(column, required);
    if (found.empty() && !required) return 0;
    const auto value = parse_number(found);
    if (value && std::isfinite(*value) && (*value > 0 || (!required && *value == 0))) return *value;
    fail(column, "'" + excerpt(found) + "', expected a positive number");
  }

  CsvReader& csv_;
};

}  // namespace

std::string operator_key(nasbench::OperatorSpecification operation) {
  operation.type = nasbench::ElementType::float32;
  operation.constants.clear();
  return format(operation);
}

std::vector<std::vector<int>> equal_nodes(const nasbench::Network& network) {
  std::map<std::string, std::vector<int>> nodes;
  for (std::size_t i = 0; i < network.nodes.size(); ++i) {
    const nasbench::OperatorSpecification& op = network.nodes[i].operation;
    const bool moves_nothing = op.kind == nasbench::OperatorKind::reshape;
    if (!moves_nothing && !op.inputs.empty()) nodes[format(op)].push_back(static_cast<int>(i));
  }
  std::vector<std::vector<int>> lists;
  for (auto& [line, equal] : nodes) lists.push_back(std::move(equal));
  return lists;
}

KernelRow profiled_row(const nasbench::Network& network, int node, const std::string& name,
                       std::vector<double> times_ms) {
  const descriptor::Timing timing = descriptor::summarise(std::move(times_ms));
  KernelRow row;
  row.kernel = nasbench::kernel_name(network, {node});
  row.leading = network.nodes[static_cast<std::size_t>(node)].operation;
  row.isolation = profiled_isolation;
  row.purpose = name;
  row.latency_ms = timing.median_ms;
  row.deviation_ms = timing.stddev_ms;
  if (!(row.latency_ms > 0)) row.refused = "another operator executes it and it has no time of its own";
  return row;
}

std::string kernel_table(const std::vector<KernelRow>& rows) {
  std::ostringstream csv;
  csv << columns << "\n";
  for (const KernelRow& row : rows) {
    const nasbench::OperatorSpecification& op = row.leading;
    std::vector<std::string> inputs;
    for (const nasbench::Shape& shape : op.inputs) inputs.push_back(nasbench::format(shape));
    csv << row.kernel << "," << name(op.kind) << "," << plain(op.name) << "," << joined(inputs, " ") << ","
        << nasbench::format(op.output) << "," << text_of(op.kernel) << "," << text_of(op.stride) << ","
        << text_of(op.dilation) << "," << op.groups << "," << (op.bias ? 1 : 0) << "," << row.isolation << ","
        << plain(row.purpose) << "," << (row.refused.empty() ? shortest(row.latency_ms) : "") << ","
        << shortest(row.deviation_ms) << "," << shortest(row.seconds) << "," << plain(row.refused) << "\n";
  }
  return csv.str();
}

std::vector<KernelRow> parse_kernel_table(std::string_view text, const std::string& file) {
  CsvReader csv(text, file);
  csv.require("latency_ms", columns);
  std::vector<KernelRow> rows;
  while (csv.next()) rows.push_back(Reader(csv).row());
  return rows;
}

std::vector<KernelRow> read_kernel_table(const std::filesystem::path& path) {
  return parse_kernel_table(read_file(path), name_in_messages(path));
}

std::vector<OperatorLatency> operators_in_networks(std::vector<KernelRow> rows) {
  std::vector<OperatorLatency> latencies;
  for (KernelRow& row : rows) {
    if (row.isolation != profiled_isolation || !row.refused.empty()) continue;
    latencies.push_back({std::move(row.leading), row.latency_ms, std::move(row.purpose)});
  }
  return latencies;
}

}  // namespace tenshot::datasets
