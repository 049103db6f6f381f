#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "descriptor/cold/cold_network.h"
#include "nasbench/graph/onnx_weights.h"

namespace tenshot::descriptor {

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
  /// What the system says of a file that changes when it is written to or replaced.
  struct Signature {
    std::uint64_t file = 0, bytes = 0;
    std::int64_t written_ns = 0, changed_ns = 0;
  };
  Signature signature() const;

  std::filesystem::path path_;
  Signature opened_;
  std::string sha256_;
  std::unique_ptr<nasbench::OnnxWeights> weights_;
};

}  // namespace tenshot::descriptor
