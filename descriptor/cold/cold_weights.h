#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "descriptor/cold/cold_network.h"
#include "nasbench/graph/onnx_weights.h"

namespace tenshot::descriptor {

/// A number that changes when bytes do: notices damage, not malice. Reads about as fast as memory does.
std::uint64_t quick_hash(const void* bytes, std::size_t count);

/// Records of one file, each of which is read on its own: the weights of a network's layers, raw or as a kernel wants
/// them. A file belongs to what its key stands for; its table and every record have a hash. It is replaced as a whole.
///
/// Layout, little-endian: 16 bytes of format, 64 of key, the number of records (8 bytes), for each record its offset,
/// bytes and hash (8 bytes each), the hash of all that (8 bytes); the records, each at a multiple of 4,096.
class WeightFile {
 public:
  /// Opens the file. Throws FileError where it cannot be read, and FormatError, one line that names it, where it is
  /// damaged, cut short, or has another key or number of records.
  WeightFile(const std::filesystem::path& path, const std::string& key, std::size_t records);
  ~WeightFile();
  WeightFile(const WeightFile&) = delete;
  WeightFile& operator=(const WeightFile&) = delete;

  /// Bytes of record i; 0 where the file has none for it.
  std::uint64_t bytes(std::size_t i) const { return records_[i].bytes; }

  /// Record i where the file was in the page cache when it was opened: its bytes(i) bytes at a multiple of 4,096, as
  /// long as the file is open. Nothing is copied, and no fresh memory is asked for. Null where the record has not its
  /// hash, or where some records have to come from the disk, which reads fetch sooner than a mapping does.
  const char* mapped(std::size_t i) const;

  /// Reads record i to `target`, which has room for bytes(i). False where what was read has not the record's hash.
  /// Several threads may read at once.
  bool read(std::size_t i, void* target) const;

  /// The file's content with these records, an empty one for what it is to have none for. `key` has 64 characters.
  static std::string content(const std::string& key, const std::vector<std::string>& records);

 private:
  struct Record {
    std::uint64_t offset = 0, bytes = 0, hash = 0;
  };
  void map();
  void read_table(const std::string& key);
  bool is_resident(std::uint64_t offset) const;
  void close() noexcept;

  int descriptor_ = -1;
  char* map_ = nullptr;
  std::uint64_t map_bytes_ = 0;
  bool is_resident_ = false;
  std::vector<Record> records_;
};

/// The weights of the ONNX model that a plan belongs to, as long as its file stays the same.
class ModelWeights {
 public:
  /// Hashes the file and finds its weights. Throws as read_file and OnnxWeights do, and FormatError where `sha256` is
  /// given and is not the hash of the file's bytes.
  explicit ModelWeights(const std::filesystem::path& path, const std::string& sha256 = "");

  /// Hash of the file's bytes when it was opened, 64 hexadecimal digits.
  const std::string& sha256() const { return sha256_; }

  /// Raw weights of one layer, batch norms folded in, and its bias behind them, as a start reads them: 32-bit floats.
  /// Throws FormatError, one line that names the file, where the file has changed since it was opened.
  std::string record(const ColdNetwork& network, const ColdLayer& layer) const;

  /// Throws FormatError where the file has changed since it was opened: its times, its size, or the file itself.
  void require_unchanged() const;

 private:
  /// What the system says of a file that changes when it is written to or replaced: which it is, its size, its times.
  using Signature = std::array<std::uint64_t, 6>;
  Signature signature() const;

  std::filesystem::path path_;
  Signature opened_;
  std::string sha256_;
  std::unique_ptr<nasbench::OnnxWeights> weights_;
};

}  // namespace tenshot::descriptor
