#include "nasbench/formats/ncnn_layer.h"

#include <algorithm>
#include <cmath>
#include <system_error>

#include "nasbench/graph/limits.h"
#include "nasbench/support/file_kind.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"
#include "nasbench/support/words.h"

namespace tenshot::nasbench {
namespace {

constexpr std::string_view magic = "7767517";
constexpr std::int64_t array_key = -23300;
constexpr std::size_t longest_name = 64U << 20;  // any: blobs are told apart by theirs
constexpr long long most_blobs_of_layer = 4096;

/// The words of a text one after the other, with the lines that they are on.
class Words {
 public:
  Words(std::string_view text, std::string file) : text_(text), file_(std::move(file)) { find(); }

  bool at_end() const { return word_.empty(); }
  std::string_view peek() const { return word_; }
  std::size_t line() const { return line_; }

  std::string_view next(const char* expected) {
    if (at_end()) refuse(std::string("the file is cut short: expected ") + expected);
    const std::string_view word = word_;
    find();
    return word;
  }

  std::size_t count(const char* expected, long long most) {
    const std::string_view word = next(expected);
    const std::optional<long long> number = parse_integer(word);
    if (!number || *number < 0 || *number > most) {
      refuse("'" + excerpt(word) + "', expected " + expected + ", a number from 0 to " + std::to_string(most));
    }
    return static_cast<std::size_t>(*number);
  }

  [[noreturn]] void refuse(const std::string& why) const { reject({"'", file_, "', line ", line_, ": ", why}); }

 private:
  void find() {
    constexpr std::string_view blanks = " \t\r\n";
    const std::size_t start = std::min(text_.find_first_not_of(blanks, end_), text_.size());
    line_ += static_cast<std::size_t>(std::count(text_.begin() + end_, text_.begin() + start, '\n'));
    end_ = std::min(text_.find_first_of(blanks, start), text_.size());
    word_ = text_.substr(start, end_ - start);
  }

  std::string_view text_;
  std::string file_;
  std::string_view word_;
  std::size_t end_ = 0, line_ = 1;
};

/// "3=1.5", "-23303=2,4,5", "6=0w,-1": a key and numbers, or what computes them. In an array what is no number is 0.
bool read_parameter(std::string_view word, NcnnLayer& layer) {
  const std::size_t equals = word.find('=');
  const std::optional<long long> key =
      equals == std::string_view::npos ? std::nullopt : parse_integer(word.substr(0, equals));
  if (!key) return false;
  const bool is_array = *key <= array_key;
  std::vector<double> numbers;
  std::string value(word.substr(equals + 1));
  value.erase(std::remove(value.begin(), value.end(), '"'), value.end());  // pnnx quotes texts
  for (const std::string& part : parts_between(value, ",")) {
    const std::optional<double> number = parse_number(part);
    numbers.push_back(number.value_or(0));
    if (!number && !is_array) layer.expressions[*key] = value;
  }
  if (is_array && !numbers.empty()) numbers.erase(numbers.begin());  // how many follow
  layer.parameters[is_array ? array_key - *key : *key] = std::move(numbers);
  return true;
}

}  // namespace

std::vector<NcnnLayer> read_ncnn_file(const std::filesystem::path& path) {
  constexpr std::uintmax_t most_bytes = 64U << 20;
  std::error_code ignored;
  if (const auto size = std::filesystem::file_size(path, ignored); !ignored && size > most_bytes) {
    throw FormatError(
        other_kind_message(path, "an ncnn network")
            .value_or("'" + path.string() + "' has " + std::to_string(size) + " bytes, more than any ncnn network"));
  }
  const std::string text = read_file(path);
  Words words(text, path.string());
  if (words.at_end() || words.peek() != magic) {
    if (const auto other = other_kind_message(path, "an ncnn network")) throw FormatError(*other);
    words.refuse("no ncnn network: it begins with '" + excerpt(words.peek()) + "', expected " + std::string(magic));
  }
  words.next("the number of the format");
  const std::size_t count = words.count("how many layers there are", static_cast<long long>(operator_limit));
  words.count("how many blobs there are", 1'000'000);
  std::vector<NcnnLayer> layers;
  while (layers.size() < count) {
    NcnnLayer layer;
    layer.line = words.line();
    layer.type = excerpt(words.next("a layer's type"), longest_name);
    if (layer.type.rfind("pnnx.", 0) == 0) {
      words.refuse("a network of pnnx, which ncnn does not run; take the .ncnn.param that pnnx writes beside it");
    }
    layer.name = excerpt(words.next("a layer's name"), longest_name);
    layer.inputs.resize(words.count("how many blobs it takes", most_blobs_of_layer));
    layer.outputs.resize(words.count("how many blobs it gives", most_blobs_of_layer));
    for (std::string& blob : layer.inputs) blob = excerpt(words.next("a blob's name"), longest_name);
    for (std::string& blob : layer.outputs) blob = excerpt(words.next("a blob's name"), longest_name);
    while (!words.at_end() && read_parameter(words.peek(), layer)) words.next("a parameter");
    layers.push_back(std::move(layer));
  }
  if (!words.at_end()) {
    words.refuse("'" + excerpt(words.peek()) + "' follows the last of " + std::to_string(count) + " layers");
  }
  return layers;
}

namespace ncnn {
namespace {

std::int64_t whole_of(double number, std::int64_t key) {
  constexpr double largest = 2147483647;
  if (std::abs(number) <= largest && number == std::floor(number)) return static_cast<std::int64_t>(number);
  reject({"parameter ", key, " is no whole number of 32 bits"});
}

}  // namespace

const std::vector<double>& LayerReader::numbers(std::int64_t key) const {
  static const std::vector<double> none;
  const auto found = file_.parameters.find(key);
  return found == file_.parameters.end() ? none : found->second;
}

double LayerReader::real(std::int64_t key, double otherwise) const {
  const std::vector<double>& found = numbers(key);
  return found.empty() ? otherwise : found.front();
}

int LayerReader::whole(std::int64_t key, int otherwise) const {
  return static_cast<int>(whole_of(real(key, otherwise), key));
}

std::vector<std::int64_t> LayerReader::list(std::int64_t key) const {
  std::vector<std::int64_t> list;
  for (const double number : numbers(key)) list.push_back(whole_of(number, key));
  return list;
}

const char* LayerReader::one_of(std::initializer_list<const char*> names, std::int64_t key) const {
  const int number = whole(key, 0);
  if (number >= 0 && number < static_cast<int>(names.size())) return names.begin()[number];
  reject({"operation or mode ", number, " is not known here"});
}

const Blob& LayerReader::input(std::size_t i) const {
  if (i < inputs_.size()) return inputs_[i];
  reject({"it has ", inputs_.size(), " inputs, expected at least ", i + 1});
}

Source LayerReader::source(std::size_t i) const {
  if (!input(i).constant) return input(i).source;
  reject({"its input ", i + 1, " is a constant, where we expect a computed tensor"});
}

std::int64_t LayerReader::axis(std::int64_t number, std::size_t input) const {
  return static_cast<std::int64_t>(front_axis(number, shape(input).size() - 1)) + 1;
}

NetworkNode LayerReader::node(OperatorKind kind, Shape output, std::string function) const {
  NetworkNode node;
  node.name = file_.name;
  node.operation.kind = kind;
  node.operation.name = std::move(function);
  for (const Blob& blob : inputs_) {
    blob.constant ? node.operation.constants.push_back(blob.shape) : node.inputs.push_back(blob.source);
  }
  if (!node.inputs.empty()) node.operation.type = builder_.type(node.inputs.front()).type;
  node.outputs = {{std::move(output), node.operation.type}};
  return node;
}

void LayerReader::give_opaque(const std::string& function, Shape output, std::vector<Shape> weights,
                              const std::vector<Shape>& more) {
  NetworkNode opaque = node(OperatorKind::opaque, std::move(output), function);
  for (Shape& weight : weights) opaque.operation.constants.push_back(std::move(weight));
  for (const Shape& shape : more) opaque.outputs.push_back({shape, opaque.operation.type});
  const Source first = builder_.append(std::move(opaque));
  for (std::size_t i = 0; i <= more.size(); ++i) give({first.node, static_cast<int>(i)});
}

void LayerReader::give_constant(Shape shape) {
  require_tensor_size(shape);
  given_.push_back({{}, std::move(shape), true, inputs_.empty() ? file_.outputs.at(0) : inputs_[0].origin});
}

void LayerReader::trace_parameters(NetworkNode& node) {
  const std::int64_t all = parameter_count(node.operation);
  std::int64_t own = all;
  for (Blob& blob : inputs_) {
    const std::int64_t count = element_count(blob.shape);
    if (blob.origin.empty() || count > own) continue;
    node.stored.push_back({std::exchange(blob.origin, {}), count});
    own -= count;
  }
  if (own > 0 && own < all) node.stored.push_back({"parameters of " + node.name, own});
}

void LayerReader::give_activated(const Source& source) { give(activated(*this, source, whole(9, 0), numbers(10))); }

NetworkNode same_shape(LayerReader& layer, OperatorKind kind, const std::string& function) {
  NetworkNode node = layer.node(kind, layer.shape(), function);
  node.inputs = {layer.source()};
  return node;
}

void append(LayerReader& layer, NetworkNode node) {
  if (node.inputs.empty()) return layer.give_constant(node.outputs[0].shape);
  layer.give(layer.builder().append(std::move(node)));
}

Source activated(LayerReader& layer, const Source& source, int kind, const std::vector<double>& numbers) {
  static const auto functions =
      words_of<std::vector<std::string>>("none relu leaky_relu clip sigmoid mish hard_swish gelu");
  if (kind == 0) return source;
  if (kind < 0 || kind >= static_cast<int>(functions.size())) reject({"there is no activation ", kind});
  const std::string& function = functions[static_cast<std::size_t>(kind)];
  const auto number = [&](std::size_t i) { return i < numbers.size() ? numbers[i] : 0.0; };
  const bool relu6 = function == "clip" && number(0) == 0 && number(1) == 6;
  const bool clips = function == "clip" && !relu6;
  return layer.builder().activation(layer.name() + "_activation", source, relu6 ? "relu6" : function,
                                    clips || function == "leaky_relu" ? number(0) : 0, clips ? number(1) : 0);
}

}  // namespace ncnn

}  // namespace tenshot::nasbench
