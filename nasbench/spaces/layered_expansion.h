#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nasbench/spaces/layered_block.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench {

// What the sources that expand the lists of a space file share.

constexpr int widest_window = 1 << 10;

/// The known names, for messages.
std::string names_of(const TemplateValues& values);

inline std::int64_t channels_of(const Shape& shape) { return shape.size() == 4 ? shape[1] : shape.back(); }

/// "24x56x56".
std::string format_extents(const Shape& shape);

/// Fills one block.
class Expansion {
 public:
  Expansion(const BlockBuilder& builder, const nlohmann::json& templates, const std::string& file,
            std::size_t& expanded, Shape input)
      : builder_(builder), templates_(templates), file_(file), expanded_(expanded), input_(std::move(input)) {}

  /// Appends the operators of a list that takes the tensor `input`; the index of what they give.
  int append_list(const nlohmann::json& list, const std::string& place, const TemplateValues& values, int input);

  int append_template(const std::string& name, const std::string& place, const TemplateValues& values, int input);

  Block take(int output);

 private:
  const Shape& shape(int index) const;

  [[noreturn]] void fail(const std::string& place, const std::string& expected, const nlohmann::json& found) const;

  /// One entry of a list, with what its values stand for.
  struct Entry {
    const nlohmann::json& object;
    const std::string& place;
    const TemplateValues& values;

    const nlohmann::json* find(const char* key) const {
      const auto found = object.find(key);
      return found == object.end() ? nullptr : &*found;
    }
  };

  double number(const Entry& entry, const char* key, double otherwise) const;

  double number_of(const nlohmann::json& value, const std::string& place, const TemplateValues& values) const;

  int whole(const Entry& entry, const char* key, int otherwise, int least, int most) const;

  Extent extent(const Entry& entry, const char* key, int least, Extent otherwise) const;

  bool flag(const Entry& entry, const char* key) const { return number(entry, key, 0) != 0; }

  std::string text(const Entry& entry, const char* key) const;

  /// Whether "when" and "unless" let the entry stand.
  bool stands(const Entry& entry) const { return number(entry, "when", 1) != 0 && number(entry, "unless", 0) == 0; }

  void require_keys(const Entry& entry, std::initializer_list<std::string_view> known) const;

  int append_entry(const nlohmann::json& object, const std::string& place, const TemplateValues& values, int input);

  int append_kind(const std::string& kind, const Entry& entry, int input);

  int push(const Entry& entry, OperatorSpecification specification, std::vector<int> inputs,
           const Extent& padding = {0, 0});

  /// What would not fit 64 bits is refused before anything counts it.
  void require_countable(const Entry& entry, const OperatorSpecification& specification) const;

  void require_image(const Entry& entry, int input) const;

  /// Output shape of a window on the tensor `input`.
  Shape windowed(const Entry& entry, int input, std::int64_t channels, const OperatorSpecification& window,
                 const Extent& padding) const;

  /// The window of convolutions and pools: as much padding as keeps the size at stride 1 where the kernel is odd.
  Extent window(const Entry& entry, OperatorSpecification& specification) const;

  int append_convolution(const Entry& entry, int input);

  int channel_count(const Entry& entry, int otherwise) const;

  int push_elementwise(const Entry& entry, OperatorKind kind, std::string name, int input);

  int append_optional_activation(const Entry& entry, int input);

  int push_activation(const Entry& entry, const std::string& name, const char* key, int input);

  int append_activation(const Entry& entry, int input);

  int append_batch_norm(const Entry& entry, int input);

  int append_softmax(const Entry& entry, int input);

  int append_pool(const Entry& entry, int input);

  int append_global_pool(const Entry& entry, int input);

  /// A shuffle of one group moves nothing, and is left out.
  int append_shuffle(const Entry& entry, int input);

  int append_flatten(const Entry& entry, int input);

  int append_linear(const Entry& entry, int input);

  const nlohmann::json& list_of(const Entry& entry) const {
    const nlohmann::json* list = entry.find("operators");
    if (list == nullptr) {
      throw FormatError(file_ + ": " + entry.place + ": has no 'operators', expected a list of operators");
    }
    return *list;
  }

  int push_joint(const Entry& entry, OperatorKind kind, const Shape& output, std::vector<int> inputs);

  /// Adds the input to what the operators give, where both have the same shape.
  int append_residual(const Entry& entry, int input);

  /// Multiplies the input by what the operators give for each channel: squeeze-and-excitation.
  int append_scale(const Entry& entry, int input);

  int append_branches(const Entry& entry, int input);

  const BlockBuilder& builder_;
  const nlohmann::json& templates_;
  const std::string& file_;
  std::size_t& expanded_;
  const Shape input_;
  Block block_;
  int depth_ = 0;
};

}  // namespace tenshot::nasbench
