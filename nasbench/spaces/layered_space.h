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

/// A search space of layers as a page of JSON describes it; nasbench/spaces/README.md says how. Decisions are those of
/// the layers, in order (the option, then the lists of numbers by their keys), that on the width and that on the
/// resolution. An architecture's string is the names of its options joined by '|'.
class LayeredSpace final : public SearchSpace {
 public:
  std::string_view name() const override { return name_; }
  const std::vector<int>& decisions() const override { return decisions_; }
  Architecture parse(std::string_view text) const override;
  void append_format(std::string& text, const Architecture& architecture) const override;
  char part_separator() const override { return '|'; }
  std::string definition() const override;
  NetworkShape default_shape() const override { return {resolution_, classes_}; }
  int input_channels() const override { return input_channels_; }

  const std::vector<std::string>& counted_operations() const override { return counted_; }
  std::vector<double> operation_counts(const Architecture& architecture) const override;
  Network computation(const Architecture& architecture, const NetworkShape& shape, int batch) const override;
  std::int64_t flop_count(const Architecture& architecture, const NetworkShape& shape) const override;
  std::vector<OperatorSpecification> operator_list(const Architecture& architecture) const override;
  std::vector<std::uint32_t> operator_parts(const Architecture& architecture) const override;
  std::vector<OperatorSpecification> operator_part(std::uint32_t part) const override;

  /// The one space of this description (layered_space() below, without its look at the name). What is shipped is
  /// expanded where it is used, and not before.
  static const LayeredSpace& intern(const nlohmann::json& definition, const std::string& file, bool is_shipped);

  ~LayeredSpace() override;

 private:
  /// An option as the definition describes it.
  struct Option {
    std::string name;
    const nlohmann::json* object = nullptr;
    std::string place;  ///< in the file, for messages
  };
  /// A list in the place of a layer's value.
  struct Choice {
    std::string key;
    std::vector<double> values;
    std::vector<std::string> names;
  };
  /// One layer. Its alternatives are the combinations of its options and choices, those of the last one fastest.
  struct Layer {
    const nlohmann::json* object = nullptr;
    std::string place;
    int out = 0;  ///< 0 where nobody says
    int stride = 1;
    std::vector<Option> options;  ///< where the layer decides nothing by them, the layer itself
    bool decides_option = false;
    std::vector<Choice> choices;
    bool takes = false;  ///< what `from` names
    std::string name;    ///< of what it gives; empty where it has none
    std::size_t first_decision = 0;

    std::size_t decision_count() const { return choices.size() + (decides_option ? 1 : 0); }
  };
  /// What one alternative of a layer is made of.
  struct Alternative {
    const Option* option = nullptr;
    std::vector<double> values;  ///< of the layer's choices
    int repeat = 1;
    std::string text;  ///< the names of its options, joined by '|'
  };
  /// All blocks for one shape of input.
  struct Level;
  struct Levels;

  LayeredSpace(const nlohmann::json& definition, const std::string& file);
  void read_resolutions(const nlohmann::json& definition);
  void read_widths(const nlohmann::json& definition);
  void read_layers(const nlohmann::json& definition);
  void read_layer(const nlohmann::json& layer, const std::string& place);
  void read_options(const nlohmann::json& layer, Layer& made) const;
  void read_choices(const nlohmann::json& layer, Layer& made) const;
  void name_decisions();
  void check_levels();
  const Level& level(const NetworkShape& shape, std::size_t width) const;
  /// The level that the architecture's own network is of.
  const Level& level_of(const Architecture& architecture, const NetworkShape& shape) const;
  std::unique_ptr<Level> make_level(const NetworkShape& shape, std::size_t width, std::size_t& expanded) const;
  std::vector<Block> make_blocks(const Layer& layer, const BlockBuilder& builder, const Shape& before,
                                 const TemplateValues& common) const;
  Block make_block(const Layer& layer, const Alternative& alternative, const BlockBuilder& builder, const Shape& before,
                   const TemplateValues& common) const;
  /// Reads `outputs`.
  void find_outputs(const BlockBuilder& builder, Level& level) const;
  /// Throws where an operator computes what nothing takes; `tensor_count` tensors have a name.
  void require_needed(const Level& level, std::size_t tensor_count) const;
  std::size_t alternative_count(const Layer& layer) const;
  Alternative alternative(const Layer& layer, std::size_t number) const;
  /// Which alternative of the layer the architecture has.
  std::size_t chosen(const Layer& layer, const Architecture& architecture) const;
  /// The options of the decisions on the width and on the resolution; 0 where there is none.
  std::size_t width_of(const Architecture& architecture) const;
  std::size_t resolution_of(const Architecture& architecture) const;
  /// The shape of the architecture's own network: of `shape`, with the resolution that it chose.
  NetworkShape shape_of(const Architecture& architecture, NetworkShape shape) const;
  /// The blocks of the architecture, from the stem to the head.
  std::vector<const Block*> blocks_of(const Architecture& architecture, const Level& level) const;

  std::string file_, name_;
  std::unique_ptr<const nlohmann::json> definition_;
  int input_channels_ = 3, resolution_ = 0, classes_ = 0;
  std::vector<int> resolutions_;    ///< empty where it is no decision
  std::vector<WidthScale> widths_;  ///< the same
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

/// FBNet (Wu et al., CVPR 2019, tables 1 and 2): 22 layers of nine blocks; skip is a 1×1 where shapes change.
const SearchSpace& fbnet();

/// Once-for-all's MobileNetV3 (Cai et al., ICLR 2020, §4.1; width 1): five units of up to four blocks, each of kernel
/// 3, 5 or 7 and expansion 3, 4 or 6, with the input's resolution.
const SearchSpace& ofa();

}  // namespace tenshot::nasbench
