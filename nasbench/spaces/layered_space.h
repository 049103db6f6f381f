#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "nasbench/spaces/layered_block.h"
#include "nasbench/spaces/search_space.h"

namespace tenshot::nasbench {

constexpr std::string_view space_format = "tenshot.space/1";

/// A search space of layers, one decision each, as a file describes it. JSON:
///
///     {"format": "tenshot.space/1", "name": "tiny",
///      "input": {"channels": 3, "resolution": 32}, "classes": 10,
///      "templates": {"block": [
///        {"kind": "residual", "operators": [
///          {"kind": "convolution", "channels": "in*expansion", "batch_norm": true, "activation": "relu"},
///          {"kind": "convolution", "depthwise": true, "kernel": "kernel", "stride": "stride", "batch_norm": true,
///           "activation": "relu"},
///          {"kind": "convolution", "channels": "out", "batch_norm": true}]}]},
///      "option_sets": {"all": [{"name": "k3", "template": "block", "kernel": 3, "expansion": 3},
///                              {"name": "k5", "template": "block", "kernel": 5, "expansion": 3}]},
///      "stem": [{"kind": "convolution", "channels": 16, "kernel": 3, "stride": 2}],
///      "layers": [{"out": 24, "stride": 2, "repeat": 3, "options": ["all", {"name": "k7", "template": "block",
///                  "kernel": 7, "expansion": 6}]}],
///      "head": [{"kind": "global_pool"}, {"kind": "linear", "channels": "classes"}]}
///
/// `layers`: `out` channels, `stride`, `options`: objects, or names of `option_sets`; `repeat` makes as many layers of
/// it, of which the first alone has the stride. An option has a `name` and `operators`, or a `template`; what else it
/// or its layer says are values that the template may use, beside `in` (channels before the list of operators),
/// `channels` (before the operator), `out`, `stride`, `resolution` (of the input image), `classes`, and `same_shape`
/// (1 where the layer changes neither channels nor size). All options of a layer give `out` channels and one size. A
/// list `resolution` beside `input` is a last decision, whose options are called r128 and so on.
///
/// Operators (`kind`): convolution (`channels`, `multiple_of`, `kernel`, `stride`, `dilation`, `padding`, `groups` or
/// `depthwise`, `bias`, `batch_norm`, `activation`), linear, max_pool, average_pool, global_pool, batch_norm,
/// activation, softmax, shuffle, flatten; residual (adds its input to what its `operators` give, where the shapes are
/// equal), scale (multiplies its input by what they give for each channel), branches (`join`: add or concatenate).
/// Numbers may be products such as "in*6". `when` and `unless` name a value that keeps or drops an operator.
///
/// An architecture's string is the names of its options joined by '|'.
class LayeredSpace final : public SearchSpace {
 public:
  std::string_view name() const override { return name_; }
  const std::vector<int>& decisions() const override { return decisions_; }
  Architecture parse(std::string_view text) const override;
  std::string format(const Architecture& architecture) const override;
  void append_format(std::string& text, const Architecture& architecture) const override;
  char part_separator() const override { return '|'; }
  std::string example() const override { return format(Architecture(decisions_.size())); }
  std::string definition() const override;
  NetworkShape default_shape() const override { return {resolution_, classes_}; }

  const std::vector<std::string>& counted_operations() const override { return counted_; }
  std::vector<double> operation_counts(const Architecture& architecture) const override;
  bool connected(const Architecture&) const override { return true; }
  Architecture canonical(const Architecture& architecture) const override { return architecture; }
  LayerGraph network(const Architecture& architecture, const NetworkShape& shape) const override;
  Network computation(const Architecture& architecture, const NetworkShape& shape, int batch) const override;
  std::int64_t flop_count(const Architecture& architecture, const NetworkShape& shape) const override;
  std::vector<OperatorSpecification> operator_list(const Architecture& architecture) const override;
  std::vector<std::uint32_t> operator_parts(const Architecture& architecture) const override;
  std::vector<OperatorSpecification> operator_part(std::uint32_t part) const override;
  std::vector<Operator> operators(const NetworkShape&) const override { return {}; }
  std::vector<double> operator_occurrences(const Architecture&) const override { return {}; }

  /// Layers with a decision, without that on the resolution.
  std::size_t layer_count() const { return layers_.size(); }
  /// Names of the options at a decision.
  const std::vector<std::string>& option_names(std::size_t decision) const { return names_[decision]; }

  /// The one space of this description (layered_space() below, without its look at the name).
  static const LayeredSpace& intern(const nlohmann::json& definition, const std::string& file);

  ~LayeredSpace() override;
  LayeredSpace(const LayeredSpace&) = delete;
  LayeredSpace& operator=(const LayeredSpace&) = delete;

 private:
  /// An option as the definition describes it.
  struct Option {
    std::string name;
    const nlohmann::json* object = nullptr;
    std::string place;  ///< in the file, for messages
  };
  /// One layer with a decision.
  struct Layer {
    const nlohmann::json* object = nullptr;
    std::string place;
    int out = 0;
    int stride = 1;
    std::vector<Option> options;
  };
  /// All blocks for one shape of input.
  struct Level;
  struct Levels;

  LayeredSpace(const nlohmann::json& definition, const std::string& file);
  void read_resolutions(const nlohmann::json& definition);
  void read_layers(const nlohmann::json& definition);
  void read_options(const nlohmann::json& layer, const std::string& place);
  void name_decisions();
  void check_architecture(const Architecture& architecture) const;
  const Level& level(const NetworkShape& shape) const;
  std::unique_ptr<Level> make_level(const NetworkShape& shape) const;
  /// The shape of the architecture's own network: of `shape`, with the resolution that it chose.
  NetworkShape shape_of(const Architecture& architecture, NetworkShape shape) const;
  /// The blocks of the architecture, from the stem to the head.
  std::vector<const Block*> blocks_of(const Architecture& architecture, const NetworkShape& shape) const;

  std::string file_, name_;
  std::unique_ptr<const nlohmann::json> definition_;
  int input_channels_ = 3, resolution_ = 0, classes_ = 0;
  std::vector<int> resolutions_;  ///< empty where it is no decision
  std::vector<Layer> layers_;
  std::vector<int> decisions_;
  std::vector<std::vector<std::string>> names_;  ///< [decision][option]
  std::vector<std::string> counted_;
  std::unique_ptr<Levels> levels_;
};

/// The space that a file or its text describes. Spaces are interned: an equal description gives the same object, so
/// that spaces can be compared by their addresses. Lives as long as the program. Throws FileError, and FormatError that
/// names the place in the file, what was found and what is expected: unknown kinds, templates and keys, a layer without
/// options, equal names, an option that does not give its layer's channels, lists nested too deep or too large to
/// expand, or the name of a space that the program has with other content.
const LayeredSpace& read_layered_space(const std::filesystem::path& path);
const LayeredSpace& layered_space(const nlohmann::json& definition, const std::string& file);

/// FBNet (Wu et al., CVPR 2019, tables 1 and 2): 22 layers of nine blocks, of which skip is a 1×1 convolution where the
/// shape changes.
const SearchSpace& fbnet();

/// Once-for-all's MobileNetV3 (Cai et al., ICLR 2020, §4.1; width 1): five units of up to four blocks, each of kernel
/// 3, 5 or 7 and expansion 3, 4 or 6, with the input's resolution.
const SearchSpace& ofa();

}  // namespace tenshot::nasbench
