#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/core/archive.h"
#include "trainer/core/json_field.h"

namespace tenshot::trainer {

// Reading what an archive holds. A checksum says that a file is whole, not that its writer meant well: whatever is
// taken from one goes through here, which lets nothing pass that is no number, out of its range, of another size or of
// another type. Every refusal is a FormatError that names the field, what was found there and what was expected.

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
