#include "descriptor/cold/model_weights.h"

#include <sys/stat.h>

#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"

namespace tenshot::descriptor {

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
  const Signature now = signature();
  if (now.file == opened_.file && now.bytes == opened_.bytes && now.written_ns == opened_.written_ns &&
      now.changed_ns == opened_.changed_ns) {
    return;
  }
  throw FormatError("'" + path_.string() + "' changed while it was read; start again once it is whole");
}

ModelWeights::Signature ModelWeights::signature() const {
  constexpr std::int64_t second_ns = 1'000'000'000;
  struct stat status {};
  if (::stat(path_.c_str(), &status) != 0) return {};  // reading it says why
  return {status.st_ino, static_cast<std::uint64_t>(status.st_size),
          status.st_mtim.tv_sec * second_ns + status.st_mtim.tv_nsec,
          status.st_ctim.tv_sec * second_ns + status.st_ctim.tv_nsec};
}

}  // namespace tenshot::descriptor
