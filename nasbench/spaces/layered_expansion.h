#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
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

/// Fills one block. A list of operators hands the tensor of each entry to the next one; `from` and `as` name others.
class Expansion {
 public:
  /// The block takes a tensor of shape `input`. The builder must outlive the expansion.
  Expansion(const BlockBuilder& builder, Shape input) : builder_(builder), input_(std::move(input)) {}

  /// Appends the operators of a list that takes the tensor `input`; what they give.
  Source append_list(const nlohmann::json& list, const std::string& place, const TemplateValues& values, Source input);

  /// Appends what an option or a layer says by `template` or by `operators`. Names in it are its own.
  Source append_body(const nlohmann::json& body, const std::string& place, const TemplateValues& values, Source input);

  /// The tensor that `from` names, or those that it names, joined along the channels.
  Source taken(const nlohmann::json& from, const std::string& place);

  const Shape& shape(Source source) const;

  /// The block, with the tensors that entries of the outermost list named.
  Block take(Source output);

 private:
  /// Tensors by their names; a name of an entry that is repeated stands for several.
  using Scope = std::map<std::string, std::vector<Source>, std::less<>>;

  /// A tensor that `from` names.
  struct Taken {
    std::string name;
    Source source;
  };

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

  Source append_template(const std::string& name, const std::string& place, const TemplateValues& values, Source input);

  double number(const Entry& entry, const char* key, double otherwise) const;

  double number_of(const nlohmann::json& value, const std::string& place, const TemplateValues& values) const;

  int whole(const Entry& entry, const char* key, int otherwise, int least, int most) const;

  Extent extent(const Entry& entry, const char* key, int least, Extent otherwise, int most = widest_window) const;

  bool flag(const Entry& entry, const char* key) const { return number(entry, key, 0) != 0; }

  std::string text(const Entry& entry, const char* key) const;

  /// Whether "when" and "unless" let the entry stand.
  bool stands(const Entry& entry) const { return number(entry, "when", 1) != 0 && number(entry, "unless", 0) == 0; }

  [[noreturn]] void refuse(const std::string& what) const { throw FormatError(builder_.file + ": " + what); }

  void require_keys(const Entry& entry, std::initializer_list<std::string_view> known) const;

  /// An entry with what it takes, what it is called and how often it stands there.
  Source append_entry(const nlohmann::json& object, const std::string& place, const TemplateValues& values,
                      Source input);

  /// The entry once, on `input`, by its kind. A plain one is a batch norm or a softmax, a joint one what `from` joined
  /// or added already. A shuffle of one group moves nothing, and is left out. A split gives its last part; all parts
  /// may have names. A residual adds the input to what the operators give, where both have the same shape; a scale
  /// multiplies the input by it for each channel: squeeze-and-excitation.
  using Append = Source(const Entry& entry, Source input);
  Append append_once, append_convolution, append_transposed_convolution, append_norm_and_activation, append_activation;
  Append append_optional_activation, append_plain, append_pool, append_global_pool, append_shuffle, append_flatten;
  Append flat, append_linear, append_resize, append_split, append_joint, append_residual, append_scale, append_branches;

  Source append_kind(const std::string& kind, const Entry& entry, Source input);

  std::vector<Taken> tensors_of(const nlohmann::json& from, const std::string& place) const;

  std::vector<Source> tensor(const std::string& name, const std::string& place) const;

  /// The tensors joined along the channels; `place` names them in messages.
  Source joined_channels(const std::vector<Taken>& tensors, const std::string& place);

  Source summed(const std::vector<Taken>& tensors, const std::string& place);

  /// Throws unless both have the same extents from `axis` on.
  void require_fit(const Taken& tensor, const Taken& first, std::size_t axis, const std::string& place) const;

  bool has_name(Source source) const;

  void give_name(const nlohmann::json& name, const std::string& place, std::vector<Source> tensors);

  Source push(const std::string& place, OperatorSpecification specification, std::vector<Source> inputs,
              const Extent& padding = {0, 0});

  /// An operator that its kind and its output say all of.
  Source push_plain(const std::string& place, OperatorKind kind, const Shape& output, std::vector<Source> inputs);

  /// What would not fit 64 bits is refused before anything counts it.
  void require_countable(const std::string& place, const OperatorSpecification& specification) const;

  void require_image(const Entry& entry, Source input) const;

  /// Output shape of a window on the tensor `input`.
  Shape windowed(const Entry& entry, Source input, std::int64_t channels, const OperatorSpecification& window,
                 const Extent& padding) const;

  /// The window of convolutions and pools: as much padding as keeps the size at stride 1 where the kernel is odd.
  Extent window(const Entry& entry, OperatorSpecification& specification) const;

  /// Channels, groups and bias of a convolution of either kind.
  int read_convolution(const Entry& entry, Source input, OperatorSpecification& specification) const;

  int channel_count(const Entry& entry, int otherwise) const;

  /// `value` channels, scaled by the space's width where it is a plain number.
  double channels_of_value(const Entry& entry, const nlohmann::json& value, const std::string& place) const;

  Source push_activation(const Entry& entry, const std::string& name, const char* key, Source input);

  const nlohmann::json& list_of(const Entry& entry) const {
    const nlohmann::json* list = entry.find("operators");
    if (list == nullptr) refuse(entry.place + ": has no 'operators', expected a list of operators");
    return *list;
  }

  const BlockBuilder& builder_;
  const Shape input_;
  Block block_;
  std::vector<Scope> scopes_ = {Scope()};
  int depth_ = 0;
};

}  // namespace tenshot::nasbench
