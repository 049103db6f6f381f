#include "nasbench/graph/network_reading.h"

#include <cerrno>
#include <cstring>
#include <optional>

#include "nasbench/graph/limits.h"
#include "nasbench/graph/operator_products.h"
#include "nasbench/support/error.h"
#include "nasbench/support/file_kind.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"
#include "nasbench/support/words.h"

namespace tenshot::nasbench {

std::pair<std::string, Shape> parse_input_shape(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  Shape shape;
  bool valid = equals != std::string_view::npos && equals > 0 && equals + 1 < text.size();
  for (const std::string& part : parts_between(std::string(text.substr(equals + 1)), "x")) {
    const std::optional<long long> number = parse_integer(part);
    valid = valid && number.has_value() && *number >= 0;
    shape.push_back(number.value_or(0));
  }
  if (!valid) {
    throw InputError("'" + std::string(text) + "' is no shape of an input; a correct one is input=1x3x224x224");
  }
  return {std::string(text.substr(0, equals)), shape};
}

void require_inputs(const NetworkReadOptions& options, const std::set<std::string>& names) {
  if (options.inputs_of_several) options.inputs_of_several->insert(names.begin(), names.end());
  for (const auto& [name, shape] : options.shapes) {
    if (names.count(name) != 0 || options.inputs_of_several) continue;
    throw InputError("it has no input '" + name + "' to give a shape to; its inputs are " + joined(names));
  }
}

std::string example_shape(const Shape& open, std::int64_t batch) {
  constexpr std::int64_t channels = 3, pixels = 224, steps = 128;
  Shape shape = open;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t image = i == 1 ? channels : pixels;
    if (shape[i] <= 0) shape[i] = i == 0 ? batch : shape.size() == 4 ? image : steps;
  }
  return format(shape);
}

std::uint64_t open_network_file(std::ifstream& file, const std::filesystem::path& path, const std::string& kind) {
  const std::string cannot_read = "cannot read '" + path.string() + "': ";
  if (is_folder(path)) throw FileError(other_kind_message(path, "an " + kind).value());
  file.open(path, std::ios::binary);
  if (!file) throw FileError(cannot_read + std::strerror(errno));
  file.seekg(0, std::ios::end);
  const std::streamoff end = file.tellg();
  if (end < 0) throw FileError(cannot_read + "it is no regular file");
  file.seekg(0);
  return static_cast<std::uint64_t>(end);
}

bool computes_less(const Network& network, std::size_t first, std::size_t middle) {
  const std::size_t end = network.nodes.size();
  const auto products = [&](std::size_t from, std::size_t to) {  // reals: before all was looked at, they may not fit
    double sum = 0;
    for (; from < to; ++from) sum += static_cast<double>(multiply_adds(network.nodes[from].operation));
    return sum;
  };
  const double earlier = products(first, middle), later = products(middle, end);
  return later < earlier || (later == earlier && end - middle < middle - first);
}

std::string remark_on_branches(const std::string& kind, const std::string& name, const std::string& fault) {
  return "the condition of " + kind + " '" + excerpt(name) + "' depends on the data: " +
         (fault.empty()
              ? "the branch that computes more is counted"
              : "one branch is counted, as the other cannot be read for inputs of these sizes (" + fault + ")");
}

std::string remark_on_open_loop(const std::string& kind, const std::string& name) {
  return "the data say how often " + kind + " '" + excerpt(name) +
         "' runs: one iteration is counted; with a constant number in the file all would be";
}

Network read_checked(const std::filesystem::path& path, const std::function<Network()>& read) {
  constexpr std::size_t longest_message = 1000;  // names of nodes and inputs may be anything
  const auto named = [&](const Error& error) {
    return "'" + path.string() + "': " + excerpt(error.what(), longest_message);
  };
  try {
    Network network = simplified(read());
    const std::vector<OperatorSpecification> operators = operator_list(network);
    require_countable(operators);
    const std::string remark = remark_on_weights(operators);
    if (!remark.empty()) network.remarks.push_back(remark);
    std::set<std::string> said;  // what is in a loop is read again and again
    for (const std::string& whole : std::exchange(network.remarks, {})) {
      const std::string text = excerpt(whole, longest_message);
      if (said.insert(text).second) network.remarks.push_back(text);
    }
    require_sound(network);
    return network;
  } catch (const InputError& error) {
    throw InputError(named(error));
  } catch (const FormatError& error) {
    throw FormatError(named(error));
  }
}

}  // namespace tenshot::nasbench
