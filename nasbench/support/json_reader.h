#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nasbench/support/error.h"

namespace tenshot {

// Reading JSON of strangers: every message names the file and the key at fault, with what was found and what expected.

/// The text as JSON, at most 64 levels deep: what takes JSON values apart is recursive, and strangers' files must not
/// exhaust the stack. Throws FormatError that names `file` and the line.
nlohmann::json parse_json(std::string_view text, const std::string& file);

/// True for a file name that stays in its folder, and is not "-" (standard input).
bool is_plain_file_name(std::string_view name);

/// True for a text of letters, digits, '.', '_' and '-', at least one.
bool is_plain_name(std::string_view text);

/// True for a text that is not empty.
inline bool is_filled(std::string_view text) { return !text.empty(); }

/// One object: reads its keys. Keys nobody asks for are ignored. All members throw FormatError.
class JsonReader {
 public:
  /// `path` leads to the object ("descriptor.operators[3]"), empty at the top. Object and file outlive the reader.
  JsonReader(const nlohmann::json& object, const std::string& file, std::string path);

  /// The value of `key`, or nullptr where it is absent or null.
  const nlohmann::json* find(const char* key) const;
  const nlohmann::json& require(const char* key, const char* expected) const;

  std::string text(const char* key, std::string otherwise) const;
  /// The text of a key that has to be there: `holds` says whether it is right, `expected` what messages ask for.
  std::string text_that(const char* key, const std::string& expected, bool (*holds)(std::string_view)) const;
  /// From `least` to 10⁹.
  int whole_number(const char* key, int least, int otherwise) const;
  int whole_number_of(const nlohmann::json& value, const std::string& place, int least) const;
  double non_negative_of(const nlohmann::json& value, const std::string& place) const;
  /// An empty list where the key is absent.
  const nlohmann::json& array(const char* key) const;
  /// The object under a key; nothing where it is absent.
  std::optional<JsonReader> object(const char* key) const;
  /// A list of objects; an empty one where the key is absent.
  std::vector<JsonReader> objects(const char* key) const;

  /// Key "format" must be `format` ("tenshot.device/1"); a newer version is said to be one. `kind`: "device file".
  void require_format(std::string_view format, const std::string& kind) const;

  [[noreturn]] void fail(const char* key, const std::string& expected, const nlohmann::json& found) const;
  [[noreturn]] void fail_at(const std::string& place, const std::string& expected, const nlohmann::json& found) const;

  std::string full(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }
  const std::string& place() const { return path_; }
  const std::string& file() const { return file_; }

 private:
  const nlohmann::json& object_;
  const std::string& file_;
  std::string path_;
};

/// A value in a message: an excerpt of it, or "a list", "an empty list", "an object".
std::string shown(const nlohmann::json& value);

/// What the JSON library says, without its error codes.
std::string json_reason(const nlohmann::json::exception& error);

/// read(), with what the JSON library throws as a FormatError: "FILE: is no KIND (…)".
template <class Read>
decltype(auto) guarded_json(const std::string& file, const std::string& kind, const Read& read) {
  try {
    return read();
  } catch (const nlohmann::json::exception& error) {
    throw FormatError(file + ": is no " + kind + " (" + json_reason(error) + ")");
  }
}

}  // namespace tenshot
