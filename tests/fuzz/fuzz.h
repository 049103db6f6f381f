#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "nasbench/support/error.h"

namespace tenshot::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Ends the process, for the fuzzer to keep the input, unless `holds`.
inline void require(bool holds, const char* claim) {
  if (holds) return;
  std::cerr << "broken: " << claim << "\n";
  std::abort();
}

/// Runs `read`, which may throw a tenshot::Error and nothing else; its message is one line and no novel.
template <class Read>
int survives(const Read& read) {
  constexpr std::size_t longest = 20'000;
  try {
    read();
  } catch (const Error& error) {
    const std::string_view message = error.what();
    require(message.find('\n') == std::string_view::npos, "a message is one line");
    require(!message.empty() && message.size() < longest, "a message says something, and not the whole file");
  }
  return 0;
}

}  // namespace tenshot::fuzz
