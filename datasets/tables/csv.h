#pragma once

#include <cstddef>
#include <deque>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenshot::datasets {

/// Reads CSV (RFC 4180) with a header, from memory or piece by piece, row by row and without copying: quoted fields may
/// hold commas, line ends and doubled quotes; lines end in LF or CRLF; a byte-order mark and blank lines are skipped.
///
///   CsvReader csv(text, "table.csv");
///   const std::size_t column = csv.require("latency_ms", "architecture,latency_ms");
///   while (csv.next()) use(csv.fields()[column], csv.line());
class CsvReader {
 public:
  /// Reads the header of `text`, which must outlive the reader; `file` is its name in messages. Throws InputError when
  /// there is nothing in it.
  CsvReader(std::string_view text, std::string file);

  /// Appends further bytes of the table to the text, about as many as the number says; false at its end.
  using More = std::function<bool(std::string&, std::size_t)>;
  /// The same for a table that `more` hands out: memory holds a piece of it, and at least one row.
  CsvReader(More more, std::string file);
  CsvReader(const CsvReader&) = delete;
  CsvReader& operator=(const CsvReader&) = delete;

  const std::string& file() const { return file_; }
  /// The columns' names, without surrounding blanks.
  const std::vector<std::string>& header() const { return header_; }
  std::optional<std::size_t> find(std::string_view column) const;
  /// The position of `column`. Throws InputError, naming the columns and those `expected`, unless it is there once.
  std::size_t require(std::string_view column, std::string_view expected) const;

  /// Moves to the next row that is not blank; false at the end. Throws InputError at a quoted field that never ends, or
  /// ends before its field does: from there on nobody can tell fields apart.
  bool next();
  /// Valid until the next call of next(). May be more or fewer than the header's.
  const std::vector<std::string_view>& fields() const { return fields_; }
  /// Where the row begins, 1-based.
  std::size_t line() const { return line_; }
  std::size_t header_line() const { return header_line_; }

 private:
  void read_header();
  void read_row();
  void read_fields();
  bool read_more(std::string_view from);
  std::string_view read_plain_field();
  std::string_view read_quoted_field();

  More more_;           ///< empty for a table in memory, and after its end
  std::string buffer_;  ///< what more_ gave and rest_ has not passed
  std::string_view rest_;
  std::string file_;
  std::vector<std::string> header_;
  std::vector<std::string_view> fields_;
  std::deque<std::string> unescaped_;  ///< this row's fields that held doubled quotes
  std::size_t line_ = 0;
  std::size_t next_line_ = 1;
  std::size_t header_line_ = 1;
};

/// What messages call `path`: itself, or "standard input" for "-".
std::string name_in_messages(const std::filesystem::path& path);

/// The parts of `text` between the separators: one at least.
std::vector<std::string_view> split(std::string_view text, char separator);

/// The lines of a text, without their ends: the last one is empty where the text ends with a line's end.
std::vector<std::string_view> lines_of(std::string_view text);

/// "'a', 'b'": at most 40 of the names, then how many more there are.
std::string quoted_list(const std::vector<std::string>& names);

}  // namespace tenshot::datasets
