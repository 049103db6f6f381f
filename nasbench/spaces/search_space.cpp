#include "nasbench/spaces/search_space.h"

#include <functional>
#include <limits>

namespace tenshot::nasbench {
namespace {

constexpr std::uint64_t largest_listing = 10'000'000;

void require_size(const SearchSpace& space, const Architecture& architecture) {
  if (architecture.size() == space.decisions().size()) return;
  throw InputError("an architecture of " + std::to_string(architecture.size()) + " decisions is none of " +
                   std::string(space.name()) + ", which has " + std::to_string(space.decisions().size()));
}

void require_choice(const SearchSpace& space, const Architecture& architecture, std::size_t decision) {
  if (architecture[decision] < space.decisions()[decision]) return;
  throw InputError("option " + std::to_string(architecture[decision]) + " at decision " + std::to_string(decision) +
                   " is none of " + std::string(space.name()) + ", which has options 0 to " +
                   std::to_string(space.decisions()[decision] - 1) + " there");
}

}  // namespace

bool SearchSpace::could_be(const Architecture& architecture) const {
  const std::vector<int>& options = decisions();
  return std::equal(architecture.begin(), architecture.end(), options.begin(), options.end(), std::less<>());
}

std::optional<std::uint64_t> SearchSpace::size() const {
  std::uint64_t size = 1;
  for (const int options : decisions()) {
    const auto factor = static_cast<std::uint64_t>(options);
    if (size > std::numeric_limits<std::uint64_t>::max() / factor) return std::nullopt;
    size *= factor;
  }
  return size;
}

Architecture SearchSpace::at(std::uint64_t ordinal) const {
  const std::vector<int>& options = decisions();
  Architecture architecture(options.size());
  std::uint64_t rest = ordinal;
  for (std::size_t i = options.size(); i-- > 0;) {
    const auto radix = static_cast<std::uint64_t>(options[i]);
    architecture[i] = static_cast<std::uint8_t>(rest % radix);
    rest /= radix;
  }
  if (rest != 0) {
    throw InputError(std::string(name()) + " has no architecture " + std::to_string(ordinal) + ": the last one is " +
                     std::to_string(*size() - 1));
  }
  return architecture;
}

std::uint64_t SearchSpace::ordinal(const Architecture& architecture) const {
  require_size(*this, architecture);
  if (!size()) throw InputError(std::string(name()) + " is too large for ordinals of 64 bits");
  const std::vector<int>& options = decisions();
  std::uint64_t ordinal = 0;
  for (std::size_t i = 0; i < options.size(); ++i) {
    require_choice(*this, architecture, i);
    ordinal = ordinal * static_cast<std::uint64_t>(options[i]) + architecture[i];
  }
  return ordinal;
}

Architecture SearchSpace::random(Rng& rng) const {
  const std::vector<int>& options = decisions();
  Architecture architecture(options.size());
  for (std::size_t i = 0; i < options.size(); ++i) {
    architecture[i] = static_cast<std::uint8_t>(rng.below(static_cast<std::uint64_t>(options[i])));
  }
  return architecture;
}

bool SearchSpace::listable() const {
  const std::optional<std::uint64_t> count = size();
  return count && *count <= largest_listing;
}

std::vector<Architecture> SearchSpace::all() const {
  const std::optional<std::uint64_t> count = size();
  if (!listable()) {
    throw InputError(std::string(name()) + " has " + (count ? std::to_string(*count) : std::string("over 10^19")) +
                     " architectures, too many to list (at most 10^7); give a list of candidates");
  }
  std::vector<Architecture> architectures;
  architectures.reserve(*count);
  for (std::uint64_t i = 0; i < *count; ++i) architectures.push_back(at(i));
  return architectures;
}

std::size_t SearchSpace::encoding_width() const {
  std::size_t width = 0;
  for (const int options : decisions()) width += static_cast<std::size_t>(options);
  return width;
}

void SearchSpace::encode(const Architecture& architecture, float* encoding) const {
  require_size(*this, architecture);
  const std::vector<int>& options = decisions();
  for (std::size_t i = 0; i < options.size(); ++i) {
    require_choice(*this, architecture, i);
    std::fill_n(encoding, options[i], 0.0F);
    encoding[architecture[i]] = 1.0F;
    encoding += options[i];
  }
}

void require_member(const SearchSpace& space, const Architecture& architecture) {
  require_size(space, architecture);
  for (std::size_t i = 0; i < architecture.size(); ++i) require_choice(space, architecture, i);
}

}  // namespace tenshot::nasbench
