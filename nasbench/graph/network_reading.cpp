#include "nasbench/graph/network_reading.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "nasbench/graph/limits.h"
#include "nasbench/graph/network_patterns.h"
#include "nasbench/graph/operator_products.h"
#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot::nasbench {

std::pair<std::string, Shape> parse_input_shape(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  Shape shape;
  bool valid = equals != std::string_view::npos && equals > 0 && equals + 1 < text.size();
  for (std::size_t start = equals + 1; valid && start <= text.size();) {
    const std::size_t end = std::min(text.find('x', start), text.size());
    const std::optional<long long> number = parse_integer(text.substr(start, end - start));
    valid = number.has_value() && *number >= 0;
    if (valid) shape.push_back(*number);
    start = end + 1;
  }
  if (!valid) {
    throw InputError("'" + std::string(text) + "' is no shape of an input; a correct one is input=1x3x224x224");
  }
  return {std::string(text.substr(0, equals)), shape};
}

std::string example_shape(const Shape& open, std::int64_t batch) {
  constexpr std::int64_t channels = 3, pixels = 224, steps = 128;
  std::vector<std::string> dimensions;
  for (std::size_t i = 0; i < open.size(); ++i) {
    const std::int64_t image = i == 1 ? channels : pixels;
    const std::int64_t usual = i == 0 ? batch : open.size() == 4 ? image : steps;
    dimensions.push_back(std::to_string(open[i] > 0 ? open[i] : usual));
  }
  return joined(dimensions, "x");
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
    for (std::string& text : network.remarks) text = excerpt(text, longest_message);
    require_sound(network);
    return network;
  } catch (const InputError& error) {
    throw InputError(named(error));
  } catch (const FormatError& error) {
    throw FormatError(named(error));
  }
}

}  // namespace tenshot::nasbench
