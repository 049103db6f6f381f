#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tenshot {

/// The shortest decimal text that reads back to the same value ("0.1", "1e-07", "nan", "inf").
std::string shortest(double value);
void append_shortest(std::string& text, double value);

/// The whole of `text` as a number, or nothing. Accepts what std::from_chars accepts for doubles, a leading '+', and
/// surrounding blanks; "nan" and "inf" are numbers here, callers decide what they mean.
std::optional<double> parse_number(std::string_view text);

/// The whole of `text` as an integer, or nothing.
std::optional<long long> parse_integer(std::string_view text);

/// `text` without leading and trailing blanks.
std::string_view trimmed(std::string_view text);

/// SHA-256 of `bytes` as 64 hexadecimal digits (FIPS 180-4, by OpenSSL).
std::string sha256_hex(std::string_view bytes);

}  // namespace tenshot
