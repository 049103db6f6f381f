#pragma once

#include <cstdint>
#include <string>

namespace tenshot {

/// Appends a number as protocol buffers write it, seven bits a byte (protobuf.dev, "Encoding").
inline void append_varint(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
  bytes += static_cast<char>(value);
}

}  // namespace tenshot
