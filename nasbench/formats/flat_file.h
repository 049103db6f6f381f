#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace tenshot::nasbench {

// FlatBuffers (flatbuffers.dev, "FlatBuffers internals"), read field by field: a table is where an offset leads, and
// begins with the distance to its vtable, which says where each field lies. Every place is checked against the file
// when it is read, so that nothing needs to be verified before.

/// A file that is read in pages, as it is asked for: memory grows with what is looked at.
class FlatFile {
 public:
  /// Throws FileError where the file cannot be read.
  explicit FlatFile(const std::filesystem::path& path);

  std::uint64_t size() const { return size_; }

  /// The little-endian number at a place. Throws FormatError outside the file, and beyond 64 MiB that were looked at.
  template <class T>
  T number(std::uint64_t place) {
    std::array<unsigned char, sizeof(T)> bytes;
    copy(place, bytes.size(), reinterpret_cast<char*>(bytes.data()));
    std::uint64_t value = 0;
    for (std::size_t i = bytes.size(); i > 0; --i) value = value << 8 | bytes[i - 1];
    return static_cast<T>(value);
  }
  std::string text(std::uint64_t place, std::uint64_t length);

  /// Counts numbers and letters of lists that are read: different tables may name the same one. Throws FormatError
  /// where they are more than 2²⁴ together.
  void count_listed(std::uint64_t elements);

 private:
  static constexpr std::uint64_t page_bytes = 4096;
  using Page = std::array<char, page_bytes>;

  void copy(std::uint64_t place, std::uint64_t count, char* target);
  const Page& page(std::uint64_t number);

  std::ifstream file_;
  std::uint64_t size_, listed_ = 0;
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
};

/// Where the elements of a vector lie, and how many there are.
struct FlatVector {
  std::uint64_t place = 0;
  std::uint64_t length = 0;
};

/// A table of a file. Fields go by their number in the schema; one that is not there has its default.
class FlatTable {
 public:
  /// The table at a place. Throws FormatError where there can be none.
  FlatTable(FlatFile& file, std::uint64_t place);

  /// The table that the file begins with.
  static FlatTable root(FlatFile& file) { return FlatTable(file, file.number<std::uint32_t>(0)); }

  template <class T>
  T number(int field, T otherwise = 0) const {
    static_assert(std::is_integral_v<T>, "reals go by their bits");
    const std::optional<std::uint64_t> place = place_of(field);
    return place ? file_->number<T>(*place) : otherwise;
  }
  float real(int field, float otherwise = 0) const;
  std::string text(int field) const;
  std::optional<FlatTable> table(int field) const;
  /// A vector whose elements have so many bytes. Throws FormatError where it reaches beyond the file.
  FlatVector vector(int field, std::uint64_t element_bytes) const;
  std::vector<std::int32_t> integers(int field) const;
  /// Element `i` of a vector of tables.
  FlatTable element(const FlatVector& tables, std::uint64_t i) const;

 private:
  std::optional<std::uint64_t> place_of(int field) const;
  std::uint64_t followed(std::uint64_t place) const { return place + file_->number<std::uint32_t>(place); }

  FlatFile* file_;
  std::uint64_t place_, vtable_;
  std::uint16_t vtable_bytes_;
};

}  // namespace tenshot::nasbench
