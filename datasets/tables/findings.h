#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "nasbench/support/text.h"

namespace tenshot::datasets {

/// Why an entry of a table was left out.
enum class Problem : std::uint8_t {
  missing,  ///< empty, "nan", "NA", "N/A", "null"
  not_a_number,
  zero,
  negative,
  not_finite,
  duplicate,  ///< the architecture stood in an earlier row
  unknown_architecture,
  field_count  ///< the row has more or fewer fields than the header: cut short or shifted, so nothing of it is used
};

std::string_view name(Problem problem);

using tenshot::excerpt;

/// One entry left out: where it stands and what was found there.
struct Finding {
  Problem problem;
  std::string file;
  std::size_t line = 0;  ///< 1-based, the header is line 1
  std::string column;    ///< its name in the header
  std::string value;     ///< an excerpt of what was found

  /// "pool.csv:17: column latency_ms: '-3' is negative; left out"
  std::string message() const;
};

/// What reading tables left out: every count, the first `kept` findings in full (a broken table has thousands).
class Findings {
 public:
  static constexpr std::size_t kept = 100;

  /// Keeps an excerpt of the finding's value.
  void add(Finding finding);
  void add(const Findings& others);
  bool empty() const { return total_ == 0; }
  std::size_t total() const { return total_; }
  const std::map<Problem, std::size_t>& counts() const { return counts_; }
  const std::vector<Finding>& first() const { return first_; }
  /// "3 entries left out: 2 zero, 1 duplicate", or "" when there is none.
  std::string summary() const;

 private:
  std::map<Problem, std::size_t> counts_;
  std::vector<Finding> first_;
  std::size_t total_ = 0;
};

/// The summary, then the first `shown` findings, one a line; "" when there is none.
std::string to_text(const Findings& findings, std::size_t shown);
/// {"total", "counts": {kind: count}, "first": [{"problem", "file", "line", "column", "value"}]}
nlohmann::json to_json(const Findings& findings);

}  // namespace tenshot::datasets
