#include <algorithm>
#include <cmath>

#include "nasbench/formats/ncnn_layer.h"
#include "nasbench/graph/limits.h"
#include "nasbench/support/words.h"

namespace tenshot::nasbench::ncnn {
namespace {

struct Function {
  const char* name;
  std::size_t arguments;
  double (*value)(double, double);
};

/// Those whose results are sizes; of angles and the like nobody makes one.
constexpr std::array<Function, 14> functions = {{{"+", 2, [](double a, double b) { return a + b; }},
                                                 {"-", 2, [](double a, double b) { return a - b; }},
                                                 {"*", 2, [](double a, double b) { return a * b; }},
                                                 {"/", 2, [](double a, double b) { return a / b; }},
                                                 {"//", 2, [](double a, double b) { return std::floor(a / b); }},
                                                 {"max", 2, [](double a, double b) { return std::max(a, b); }},
                                                 {"min", 2, [](double a, double b) { return std::min(a, b); }},
                                                 {"pow", 2, [](double a, double b) { return std::pow(a, b); }},
                                                 {"neg", 1, [](double a, double) { return -a; }},
                                                 {"sqrt", 1, [](double a, double) { return std::sqrt(a); }},
                                                 {"trunc", 1, [](double a, double) { return std::trunc(a); }},
                                                 {"ceil", 1, [](double a, double) { return std::ceil(a); }},
                                                 {"floor", 1, [](double a, double) { return std::floor(a); }},
                                                 {"round", 1, [](double a, double) { return std::round(a); }}}};

/// A number, or "0w": the width of the first input.
double number_of(const std::string& word, const std::vector<Blob>& inputs) {
  if (const std::optional<double> number = parse_number(word)) return *number;
  const auto input = static_cast<std::size_t>(word.front() - '0');
  if (word.size() != 2 || input > 9 || std::string_view("whdcn").find(word[1]) == std::string_view::npos)
    reject({"we do not follow '", word, "' in its sizes; let pnnx write the file with one fixed inputshape"});
  if (input >= inputs.size()) reject({"its sizes have '", word, "', and it has ", inputs.size(), " inputs"});
  return static_cast<double>(extent_of(inputs[input].shape, word[1]));
}

}  // namespace

std::int64_t extent_of(const Shape& shape, char letter) {
  const std::size_t rank = shape.size() - 1;
  if (letter == 'w') return shape.back();
  return shape[letter == 'h' && rank > 1   ? rank - 1
               : letter == 'c' && rank > 2 ? 1
               : letter == 'd' && rank > 3 ? 2
                                           : 0];
}

std::vector<double> sizes_of(const std::string& expressions, const std::vector<Blob>& inputs) {
  std::string text = expressions;
  for (char& c : text) c = c == '(' || c == ')' ? ',' : c;
  std::vector<double> stack;  // a function stands before what it is of: from behind
  std::vector<std::string> words = filled_parts(text);
  std::reverse(words.begin(), words.end());
  for (const std::string& word : words) {
    const auto found =
        std::find_if(functions.begin(), functions.end(), [&](const Function& one) { return word == one.name; });
    if (found == functions.end()) {
      stack.push_back(number_of(word, inputs));
      continue;
    }
    if (stack.size() < found->arguments) reject({"its sizes have too few numbers for '", word, "'"});
    const double first = stack.back(), second = stack[stack.size() - found->arguments];
    stack.resize(stack.size() - found->arguments + 1);
    stack.back() = found->value(first, second);
  }
  std::reverse(stack.begin(), stack.end());
  for (double& number : stack) number = std::trunc(number);
  return stack;
}

}  // namespace tenshot::nasbench::ncnn
