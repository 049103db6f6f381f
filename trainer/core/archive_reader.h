#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainer/core/archive.h"

namespace tenshot::trainer {

// Reading what an archive holds. A checksum says that a file is whole, not that its writer meant well: whatever is
// taken from one goes through here, which lets nothing pass that is no number, out of its range, of another size or of
// another type. Every refusal is a FormatError that names the field, what was found there and what was expected.
// JsonField reads documents that people write as well, such as the spec of an experiment.

/// The values that a number may have; it is always finite.
struct Range {
  double least = 0;
  double most = 0;
};

constexpr Range any_number{-1e300, 1e300};
constexpr Range not_negative{0, 1e300};
constexpr Range positive{1e-300, 1e300};
constexpr Range share{0, 1};

/// A value of a JSON document, and the way to it, so that a refusal says in one line where it is, what was found there
/// and what was expected. Everything throws FormatError where the value is something else. The document outlives it.
class JsonField {
 public:
  /// An archive's card. A refusal reads "its card: components[3].entry is -1, expected …".
  explicit JsonField(const Archive& archive);
  /// A document that a person wrote, without empty texts and lists. Refusals name file and JSON pointer (RFC 6901).
  JsonField(const nlohmann::json& document, const std::string& file);

  JsonField at(const std::string& key) const;
  std::optional<JsonField> find(const std::string& key) const;
  /// Throws unless it is an object whose keys are all among `allowed`.
  void only_keys(const std::vector<std::string>& allowed) const;
  /// The entries of a list, at most `most` of them.
  std::vector<JsonField> list(std::size_t most = 10'000'000) const;

  std::string text() const;
  std::string one_of(const std::vector<std::string>& allowed) const;
  std::vector<std::string> texts(std::size_t most = 10'000'000) const;
  bool boolean() const;
  double number(Range range) const;
  std::int64_t whole_number(std::int64_t least, std::int64_t most) const;
  const nlohmann::json& json() const { return *json_; }

  [[noreturn]] void fail(const std::string& expected) const;

 private:
  JsonField(const nlohmann::json& json, const JsonField& within, std::string path)
      : json_(&json), source_(within.source_), by_hand_(within.by_hand_), path_(std::move(path)) {}
  std::string path_to(const std::string& key) const;

  const nlohmann::json* json_;
  std::string source_;  ///< what a refusal begins with
  bool by_hand_;        ///< a person wrote it
  std::string path_;
};

/// A whole array, each value in `range`; of `size` values where that is given.
std::vector<double> checked_doubles(const Archive& archive, const std::string& name, Range range,
                                    std::optional<std::size_t> size = std::nullopt);
std::vector<float> checked_floats(const Archive& archive, const std::string& name, Range range,
                                  std::optional<std::size_t> size = std::nullopt);

/// An array of 64-bit floats that holds several fields one after the other. `field` names each in messages.
class FieldSequence {
 public:
  FieldSequence(const Archive& archive, const std::string& name);

  double number(const std::string& field, Range range);
  /// NaN where the number is not known.
  double number_or_nan(const std::string& field, Range range);
  Eigen::VectorXd vector(const std::string& field, Eigen::Index size, Range range);
  Eigen::MatrixXd matrix(const std::string& field, Eigen::Index rows, Eigen::Index columns, Range range);
  /// Call it last: a sequence that holds more than was read belongs to another file.
  void require_end() const;

 private:
  double next(const std::string& field);

  std::string name_;
  std::vector<double> values_;
  std::size_t at_ = 0;
};

/// The seed that a card keeps beside the settings.
std::uint64_t seed_of(const JsonField& card);

/// Throws FormatError: "FIELD is VALUE, expected a number from … to …".
void require_in_range(double value, Range range, const std::string& field);

}  // namespace tenshot::trainer
