#include "datasets/tables/csv.h"

#include <algorithm>
#include <utility>

#include "datasets/tables/findings.h"
#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot::datasets {
namespace {

[[noreturn]] void fail(const std::string& file, std::size_t line, const std::string& what) {
  throw InputError(file + ":" + std::to_string(line) + ": " + what);
}

}  // namespace

CsvReader::CsvReader(std::string_view text, std::string file) : rest_(text), file_(std::move(file)) { read_header(); }

CsvReader::CsvReader(More more, std::string file) : more_(std::move(more)), file_(std::move(file)) {
  read_more({});
  read_header();
}

void CsvReader::read_header() {
  if (begins_with(rest_, "\xFF\xFE") || begins_with(rest_, "\xFE\xFF")) {
    throw InputError(file_ + ": is UTF-16 text, expected UTF-8; save it as UTF-8");
  }
  if (begins_with(rest_, "\xEF\xBB\xBF")) rest_.remove_prefix(3);
  if (!next()) throw InputError(file_ + ": is empty, expected CSV with a header");
  header_line_ = line_;
  for (const std::string_view field : fields_) header_.emplace_back(trimmed(field));
}

std::optional<std::size_t> CsvReader::find(std::string_view column) const {
  const auto found = std::find(header_.begin(), header_.end(), column);
  if (found == header_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header_.begin());
}

std::size_t CsvReader::require(std::string_view column, std::string_view expected) const {
  const std::optional<std::size_t> found = find(column);
  if (!found) {
    const std::size_t other = header_.size() == 1 ? header_.front().find_first_of(";\t") : std::string::npos;
    if (other != std::string::npos) {
      fail(file_, header_line_,
           std::string("columns are separated by ") + (header_.front()[other] == ';' ? "';'" : "tabs") +
               "; save the table with commas between columns and points in numbers");
    }
    fail(file_, header_line_,
         "the header has no column '" + std::string(column) + "'; found " + quoted_list(header_) + ", expected " +
             std::string(expected));
  }
  if (std::count(header_.begin(), header_.end(), column) > 1) {
    fail(file_, header_line_, "the header has column '" + std::string(column) + "' twice; rename one");
  }
  return *found;
}

bool CsvReader::next() {
  while (!rest_.empty() || read_more({})) {
    read_row();
    if (fields_.size() > 1 || !trimmed(fields_.front()).empty()) return true;
  }
  return false;
}

/// Reads a further piece behind `from`, the end of what is here; false where there is none. As large as what is kept,
/// so that a row of any length is looked at a few times only.
bool CsvReader::read_more(std::string_view from) {
  if (!more_) return false;
  constexpr std::size_t piece = std::size_t{1} << 20;
  buffer_.erase(0, buffer_.size() - from.size());
  const bool any = more_(buffer_, std::max(piece, buffer_.size()));
  if (!any) more_ = nullptr;
  rest_ = buffer_;
  return any;
}

void CsvReader::read_row() {
  for (;;) {
    const std::string_view row = rest_;
    const std::size_t line = next_line_;
    read_fields();
    if (!more_ || !rest_.empty()) return;
    read_more(row);  // the row ends where the piece does: it may go on
    next_line_ = line;
  }
}

void CsvReader::read_fields() {
  fields_.clear();
  unescaped_.clear();
  line_ = next_line_;
  for (;;) {
    const bool quoted = !rest_.empty() && rest_.front() == '"';
    fields_.push_back(quoted ? read_quoted_field() : read_plain_field());
    if (rest_.empty()) return;
    const char separator = rest_.front();
    rest_.remove_prefix(1);
    if (separator == '\n') {
      ++next_line_;
      return;
    }
  }
}

std::string_view CsvReader::read_plain_field() {
  const char* const begin = rest_.data();
  const char* const end = begin + rest_.size();
  const char* stop = begin;
  while (stop != end && *stop != ',' && *stop != '\n') ++stop;
  const auto length = static_cast<std::size_t>(stop - begin);
  const bool ends_row = stop == end || *stop == '\n';
  const bool carriage_return = ends_row && length > 0 && stop[-1] == '\r';
  const std::string_view field = rest_.substr(0, carriage_return ? length - 1 : length);
  rest_.remove_prefix(length);
  return field;
}

std::string_view CsvReader::read_quoted_field() {
  const std::string_view text = rest_.substr(1);
  std::size_t close = text.find('"');
  bool doubled = false;
  while (close != std::string_view::npos && close + 1 < text.size() && text[close + 1] == '"') {
    doubled = true;
    close = text.find('"', close + 2);
  }
  if (close == std::string_view::npos && more_) {
    rest_ = {};  // it may end in what is still to be read
    return {};
  }
  if (close == std::string_view::npos) {
    fail(file_, next_line_, "a quoted field is never closed; add the closing '\"' or remove the opening one");
  }
  std::string_view field = text.substr(0, close);
  rest_ = text.substr(close + 1);
  next_line_ += static_cast<std::size_t>(std::count(field.begin(), field.end(), '\n'));
  if (begins_with(rest_, "\r\n") || rest_ == "\r") rest_.remove_prefix(1);
  if (!rest_.empty() && rest_.front() != ',' && rest_.front() != '\n') {
    fail(file_, next_line_,
         "'" + excerpt(rest_.substr(0, rest_.find_first_of(",\n"))) +
             "' follows the closing quote of a field, expected ',' or the line's end; a quote inside a quoted field is "
             "written twice");
  }
  if (doubled) {
    std::string& copy = unescaped_.emplace_back();
    for (std::size_t i = 0; i < field.size(); ++i) {
      copy.push_back(field[i]);
      if (field[i] == '"') ++i;
    }
    field = copy;
  }
  return field;
}

std::string name_in_messages(const std::filesystem::path& path) {
  return path == "-" ? std::string("standard input") : path.string();
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines = split(text, '\n');
  for (std::string_view& line : lines) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  }
  return lines;
}

std::string quoted_list(const std::vector<std::string>& names) {
  constexpr std::size_t limit = 40;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < limit; ++i) text += (i == 0 ? "'" : ", '") + excerpt(names[i]) + "'";
  if (names.size() > limit) text += " and " + std::to_string(names.size() - limit) + " more";
  return text;
}

}  // namespace tenshot::datasets
