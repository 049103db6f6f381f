#include <algorithm>
#include <optional>

#include "nasbench/graph/onnx_reader.h"
#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"

namespace tenshot::nasbench {

std::pair<std::string, Shape> parse_input_shape(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  Shape shape;
  bool valid = equals != std::string_view::npos && equals > 0 && equals + 1 < text.size();
  for (std::size_t start = equals + 1; valid && start <= text.size();) {
    const std::size_t end = std::min(text.find('x', start), text.size());
    const std::optional<long long> number = parse_integer(text.substr(start, end - start));
    valid = number.has_value() && *number > 0;
    if (valid) shape.push_back(*number);
    start = end + 1;
  }
  if (!valid) {
    throw InputError("'" + std::string(text) + "' is no shape of an input; a correct one is input=1x3x224x224");
  }
  return {std::string(text.substr(0, equals)), shape};
}

}  // namespace tenshot::nasbench
