#include "descriptor/cold/cold_weights.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"

namespace tenshot::descriptor {

namespace {

constexpr char format[17] = "tenshot.weights1";
constexpr std::size_t format_bytes = 16, key_bytes = 64, number_bytes = 8, record_numbers = 3;
constexpr std::uint64_t alignment = 4096;

std::size_t header_bytes(std::size_t records) {
  return format_bytes + key_bytes + number_bytes * (1 + records * record_numbers + 1);
}

void append(std::string& text, std::uint64_t number) {
  text.append(reinterpret_cast<const char*>(&number), sizeof number);
}

std::uint64_t number_at(const std::string& text, std::size_t offset) {
  std::uint64_t number = 0;
  std::memcpy(&number, text.data() + offset, sizeof number);
  return number;
}

bool read_all(int descriptor, char* target, std::uint64_t bytes, std::uint64_t offset) {
  while (bytes > 0) {
    const ssize_t part = ::pread(descriptor, target, bytes, static_cast<off_t>(offset));
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) return false;
    target += part;
    bytes -= static_cast<std::uint64_t>(part);
    offset += static_cast<std::uint64_t>(part);
  }
  return true;
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
  hash = (hash ^ word) * odd;
  return hash ^ (hash >> 29);
}

}  // namespace

std::uint64_t quick_hash(const void* bytes, std::size_t count) {
  constexpr std::size_t lanes = 8;
  const auto* data = static_cast<const unsigned char*>(bytes);
  std::array<std::uint64_t, lanes> hash = {1, 2, 3, 4, 5, 6, 7, 8};
  std::size_t at = 0;
  for (; at + lanes * sizeof(std::uint64_t) <= count; at += lanes * sizeof(std::uint64_t)) {
    std::array<std::uint64_t, lanes> words;
    std::memcpy(words.data(), data + at, sizeof words);
    for (std::size_t lane = 0; lane < lanes; ++lane) hash[lane] = mixed(hash[lane], words[lane]);
  }
  std::uint64_t all = count;
  for (; at < count; ++at) all = mixed(all, data[at]);
  for (const std::uint64_t lane : hash) all = mixed(all, lane);
  return all;
}

WeightFile::WeightFile(const std::filesystem::path& path, const std::string& key, std::size_t records)
    : records_(records) {
  const std::string file = "'" + path.string() + "'";
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) throw FileError("cannot read " + file + ": " + std::strerror(errno));
  static_cast<void>(::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL));  // reads further ahead
  try {
    map();
    const bool begins_in_memory = is_resident(0);  // before it is read
    read_table(key);
    is_resident_ = begins_in_memory && std::all_of(records_.begin(), records_.end(), [this](const Record& record) {
                     return record.bytes == 0 || is_resident(record.offset);
                   });
  } catch (const FormatError& why) {
    close();
    throw FormatError(file + ": " + why.what());
  }
}

void WeightFile::map() {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || status.st_size == 0) throw FormatError("no file of weights, or cut short");
  map_bytes_ = static_cast<std::uint64_t>(status.st_size);
  void* map = ::mmap(nullptr, map_bytes_, PROT_READ, MAP_PRIVATE, descriptor_, 0);
  if (map == MAP_FAILED) throw FormatError(std::string("cannot be mapped: ") + std::strerror(errno));
  map_ = static_cast<char*>(map);
}

void WeightFile::read_table(const std::string& key) {
  std::string header(header_bytes(records_.size()), '\0');
  if (!read_all(descriptor_, header.data(), format_bytes + key_bytes + number_bytes, 0) ||
      header.compare(0, format_bytes, format) != 0) {
    throw FormatError("no file of weights, or cut short");
  }
  if (header.compare(format_bytes, key_bytes, key) != 0) {
    throw FormatError("it has the weights of another network or plan");
  }
  if (number_at(header, format_bytes + key_bytes) != records_.size()) {
    throw FormatError("it has another number of layers");
  }
  if (!read_all(descriptor_, header.data(), header.size(), 0)) throw FormatError("cut short");
  const std::size_t hashed = header.size() - number_bytes;
  if (number_at(header, hashed) != quick_hash(header.data(), hashed)) throw FormatError("its table is damaged");
  std::size_t at = format_bytes + key_bytes + number_bytes;
  for (Record& record : records_) {
    record = {number_at(header, at), number_at(header, at + number_bytes), number_at(header, at + 2 * number_bytes)};
    at += record_numbers * number_bytes;
    if (record.offset > map_bytes_ || record.bytes > map_bytes_ - record.offset || record.offset % alignment != 0) {
      throw FormatError("cut short");
    }
  }
}

WeightFile::~WeightFile() { close(); }

void WeightFile::close() noexcept {
  if (map_ != nullptr) ::munmap(map_, map_bytes_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool WeightFile::is_resident(std::uint64_t offset) const {
  unsigned char flags = 0;  // of one page: asking for all of a record takes longer than it tells
  return ::mincore(map_ + offset, 1, &flags) == 0 && (flags & 1U) != 0;
}

const char* WeightFile::mapped(std::size_t i) const {
  const Record& record = records_[i];
  if (!is_resident_) return nullptr;
  const char* start = map_ + record.offset;
  return quick_hash(start, record.bytes) == record.hash ? start : nullptr;
}

bool WeightFile::read(std::size_t i, void* target) const {
  const Record& record = records_[i];
  return read_all(descriptor_, static_cast<char*>(target), record.bytes, record.offset) &&
         quick_hash(target, record.bytes) == record.hash;
}

std::string WeightFile::content(const std::string& key, const std::vector<std::string>& records) {
  std::string header(format, format_bytes);
  header += key;
  header.resize(format_bytes + key_bytes, ' ');
  append(header, records.size());
  const auto aligned = [](std::uint64_t offset) { return (offset + alignment - 1) / alignment * alignment; };
  std::uint64_t offset = aligned(header_bytes(records.size()));
  std::vector<std::uint64_t> offsets;
  for (const std::string& record : records) {
    offsets.push_back(record.empty() ? 0 : offset);
    append(header, offsets.back());
    append(header, record.size());
    append(header, quick_hash(record.data(), record.size()));
    offset = aligned(offset + record.size());
  }
  append(header, quick_hash(header.data(), header.size()));
  header.reserve(offset);
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].empty()) continue;
    header.resize(offsets[i], '\0');
    header += records[i];
  }
  return header;
}

ModelWeights::ModelWeights(const std::filesystem::path& path, const std::string& sha256)
    : path_(path), opened_(signature()), sha256_(sha256_hex(read_file(path))) {
  if (!sha256.empty() && sha256_ != sha256) {
    throw FormatError("'" + path.string() + "' is not the model that the plan was made for, or has changed since; " +
                      "measure and plan anew");
  }
  weights_ = std::make_unique<nasbench::OnnxWeights>(path);
  require_unchanged();
}

std::string ModelWeights::record(const ColdNetwork& network, const ColdLayer& layer) const {
  const FoldedWeights folded = folded_weights(network, layer, *weights_);
  require_unchanged();
  std::string record(reinterpret_cast<const char*>(folded.weight.data()), folded.weight.size() * sizeof(float));
  record.append(reinterpret_cast<const char*>(folded.bias.data()), folded.bias.size() * sizeof(float));
  return record;
}

void ModelWeights::require_unchanged() const {
  if (signature() == opened_) return;
  throw FormatError("'" + path_.string() + "' changed while it was read; start again once it is whole");
}

ModelWeights::Signature ModelWeights::signature() const {
  struct stat status {};
  if (::stat(path_.c_str(), &status) != 0) return {};  // reading it says why
  const auto number = [](auto value) { return static_cast<std::uint64_t>(value); };
  return {status.st_ino,
          number(status.st_size),
          number(status.st_mtim.tv_sec),
          number(status.st_mtim.tv_nsec),
          number(status.st_ctim.tv_sec),
          number(status.st_ctim.tv_nsec)};
}

}  // namespace tenshot::descriptor
