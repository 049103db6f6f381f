#include "nasbench/formats/flat_file.h"

#include <algorithm>
#include <cstring>

#include "nasbench/graph/limits.h"
#include "nasbench/graph/network_reading.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench {
FlatFile::FlatFile(const std::filesystem::path& path) : size_(open_network_file(file_, path, "file of a network")) {}

std::string FlatFile::text(std::uint64_t place, std::uint64_t length) {
  std::string text(static_cast<std::size_t>(std::min(length, size_)), '\0');
  copy(place, length, text.data());
  return text;
}

void FlatFile::count_listed(std::uint64_t elements) {
  constexpr std::uint64_t most_listed = 1 << 24;
  listed_ += std::min(elements, most_listed + 1);
  if (listed_ > most_listed) throw FormatError("damaged: its lists have more than 2^24 numbers and letters together");
}

void FlatFile::copy(std::uint64_t place, std::uint64_t count, char* target) {
  if (place > size_ || count > size_ - place) {
    reject({"damaged or cut short: ", count, " bytes should lie at ", place, ", the file has ", size_});
  }
  while (count > 0) {
    const Page& bytes = page(place / page_bytes);
    const std::uint64_t begin = place % page_bytes, part = std::min(count, page_bytes - begin);
    std::memcpy(target, bytes.data() + begin, part);
    target += part;
    place += part;
    count -= part;
  }
}

const FlatFile::Page& FlatFile::page(std::uint64_t number) {
  constexpr std::uint64_t most_pages = (64U << 20) / page_bytes;
  std::unique_ptr<Page>& page = pages_[number];
  if (page != nullptr) return *page;
  if (pages_.size() > most_pages) throw FormatError("it has more than 64 MiB besides its weights");
  page = std::make_unique<Page>();
  page->fill('\0');
  file_.clear();
  file_.seekg(static_cast<std::streamoff>(number * page_bytes));
  file_.read(page->data(), static_cast<std::streamsize>(page->size()));
  return *page;
}

FlatTable::FlatTable(FlatFile& file, std::uint64_t place) : file_(&file), place_(place) {
  const auto distance = file.number<std::int32_t>(place);
  const auto start = static_cast<std::int64_t>(place) - distance;
  if (start < 0) reject({"damaged: a table at byte ", place, " has no vtable"});
  vtable_ = static_cast<std::uint64_t>(start);
  vtable_bytes_ = file.number<std::uint16_t>(vtable_);
}

std::optional<std::uint64_t> FlatTable::place_of(int field) const {
  const std::uint64_t entry = 4 + 2 * static_cast<std::uint64_t>(field);
  if (entry + 2 > vtable_bytes_) return std::nullopt;
  const auto offset = file_->number<std::uint16_t>(vtable_ + entry);
  if (offset == 0) return std::nullopt;
  return place_ + offset;
}

float FlatTable::real(int field, float otherwise) const {
  const std::optional<std::uint64_t> place = place_of(field);
  if (!place) return otherwise;
  const auto bits = file_->number<std::uint32_t>(*place);
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

std::string FlatTable::text(int field) const {
  constexpr std::uint64_t longest = 1000;  // of a name: it is shown cut short
  const FlatVector letters = vector(field, 1);
  const std::uint64_t length = std::min(letters.length, longest);
  file_->count_listed(length);
  return file_->text(letters.place, length);
}

std::optional<FlatTable> FlatTable::table(int field) const {
  const std::optional<std::uint64_t> place = place_of(field);
  if (!place) return std::nullopt;
  return FlatTable(*file_, followed(*place));
}

FlatVector FlatTable::vector(int field, std::uint64_t element_bytes) const {
  const std::optional<std::uint64_t> place = place_of(field);
  if (!place) return {};
  const std::uint64_t start = followed(*place);
  const FlatVector found = {start + 4, file_->number<std::uint32_t>(start)};
  if (found.length * element_bytes > file_->size() - found.place) {
    reject({"damaged or cut short: ", found.length, " elements should lie at byte ", found.place});
  }
  return found;
}

std::vector<std::int32_t> FlatTable::integers(int field) const {
  const FlatVector found = vector(field, 4);
  file_->count_listed(found.length);
  std::vector<std::int32_t> numbers;
  for (std::uint64_t i = 0; i < found.length; ++i) numbers.push_back(file_->number<std::int32_t>(found.place + 4 * i));
  return numbers;
}

FlatTable FlatTable::element(const FlatVector& tables, std::uint64_t i) const {
  return FlatTable(*file_, followed(tables.place + 4 * i));
}

}  // namespace tenshot::nasbench
