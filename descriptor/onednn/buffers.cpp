#include "descriptor/onednn/buffers.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <new>

#include "descriptor/compiled/layout.h"

namespace tenshot::descriptor {
namespace {

constexpr std::size_t huge_page = 2U << 20;

}  // namespace

Buffer::Buffer(std::size_t bytes) : bytes_(std::max<std::size_t>(bytes, 1)) {
  const bool large = bytes_ >= huge_page / 2;
  if (large) bytes_ = (bytes_ + huge_page - 1) / huge_page * huge_page;
  data_ = std::aligned_alloc(large ? huge_page : alignment, aligned(bytes_));
  if (data_ == nullptr) throw std::bad_alloc();
  if (large) static_cast<void>(::madvise(data_, bytes_, MADV_HUGEPAGE));
}

Buffer::~Buffer() { std::free(data_); }

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void Buffer::require(std::size_t bytes) {
  constexpr std::size_t least = 2 * huge_page;
  if (bytes > bytes_) *this = Buffer(std::max({bytes, 2 * bytes_, least}));
}

char* Arena::take(std::size_t bytes) {
  constexpr std::size_t chunk = 16 * huge_page;  // addresses: what is not used takes no memory
  bytes = aligned(bytes);
  if (chunks_.empty() || used_ + bytes > chunks_.back().size()) {
    chunks_.emplace_back(std::max(bytes, chunk));
    used_ = 0;
  }
  char* piece = chunks_.back().data() + used_;
  used_ += bytes;
  return piece;
}

TensorPlaces tensor_places(const ColdNetwork& network) {
  const std::size_t never = network.layers.size() + 1;
  std::vector<std::size_t> last_use(network.tensors.size(), 0);
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    for (const int input : network.layers[i].inputs) last_use[static_cast<std::size_t>(input)] = i;
  }
  last_use[static_cast<std::size_t>(network.output)] = never;
  last_use[static_cast<std::size_t>(network.input)] = never;  // the caller's image stays for later runs
  TensorPlaces places;
  places.offsets.resize(network.tensors.size());
  std::multimap<std::size_t, std::size_t> free;  // bytes → offset
  const auto bytes_of = [&](std::size_t tensor) {
    return aligned(static_cast<std::size_t>(nasbench::element_count(network.tensors[tensor])) * sizeof(float));
  };
  const auto place = [&](std::size_t tensor) {
    const std::size_t bytes = bytes_of(tensor);
    const auto fit = free.lower_bound(bytes);
    if (fit == free.end()) {
      places.offsets[tensor] = places.bytes;
      places.bytes += bytes;
      return;
    }
    places.offsets[tensor] = fit->second;
    if (fit->first > bytes) free.emplace(fit->first - bytes, fit->second + bytes);
    free.erase(fit);
  };
  place(static_cast<std::size_t>(network.input));
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    place(static_cast<std::size_t>(network.layers[i].output));
    std::vector<int> inputs = network.layers[i].inputs;
    std::sort(inputs.begin(), inputs.end());
    inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
    for (const int input : inputs) {
      const auto tensor = static_cast<std::size_t>(input);
      if (last_use[tensor] == i) free.emplace(bytes_of(tensor), places.offsets[tensor]);
    }
  }
  return places;
}

}  // namespace tenshot::descriptor
