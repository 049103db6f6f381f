#include "nasbench/spaces/network_space.h"

#include <functional>
#include <limits>

#include "nasbench/spaces/layered_space.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/spaces/search_space.h"
#include "nasbench/support/text.h"

namespace tenshot::nasbench {
namespace {

/// A space that is known by name; made when it is first asked for.
struct KnownSpace {
  std::string_view name;
  const NetworkSpace& (*get)();
};

constexpr std::array<KnownSpace, 4> spaces = {{{"nasbench201", []() -> const NetworkSpace& { return nasbench201(); }},
                                               {"fbnet", []() -> const NetworkSpace& { return fbnet(); }},
                                               {"ofa", []() -> const NetworkSpace& { return ofa(); }},
                                               {"networks", networks}}};

constexpr std::uint64_t largest_listing = 10'000'000;

}  // namespace

std::string NetworkSpace::format(const Architecture& architecture) const {
  std::string text;
  append_format(text, architecture);
  return text;
}

std::vector<OperatorSpecification> NetworkSpace::operator_list(const Architecture&) const {
  throw InputError("the search space " + std::string(name()) + " does not say which operators its networks execute");
}

std::vector<std::uint32_t> NetworkSpace::operator_parts(const Architecture& architecture) const {
  operator_list(architecture);  // says what is missing where it is
  throw InputError("the search space " + std::string(name()) + " does not say its operators in parts");
}

std::vector<OperatorSpecification> NetworkSpace::operator_part(std::uint32_t) const {
  throw InputError("the search space " + std::string(name()) + " does not say its operators in parts");
}

std::int64_t NetworkSpace::flop_count(const Architecture& architecture, const NetworkShape& shape) const {
  return multiply_adds(computation(architecture, shape, 1));
}

const SearchSpace& search_space(const NetworkSpace& space) {
  if (const SearchSpace* decided = space.search_space()) return *decided;
  throw InputError("architectures of the space " + std::string(space.name()) +
                   " are not made of decisions, which is needed here; give a list of them, or take a predictor of "
                   "operators");
}

const NetworkSpace& known_space(std::string_view name) {
  for (const KnownSpace& space : spaces) {
    if (space.name == name) return space.get();
  }
  throw InputError("'" + excerpt(name) + "' is no search space; there are: " + joined(space_names()) +
                   ", or a file such as space.json");
}

std::vector<std::string> space_names() {
  std::vector<std::string> names;
  for (const KnownSpace& space : spaces) names.emplace_back(space.name);
  return names;
}

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
  require_member(*this, architecture);
  if (!size()) throw InputError(std::string(name()) + " is too large for ordinals of 64 bits");
  const std::vector<int>& options = decisions();
  std::uint64_t ordinal = 0;
  for (std::size_t i = 0; i < options.size(); ++i) {
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
  require_member(*this, architecture);
  const std::vector<int>& options = decisions();
  for (std::size_t i = 0; i < options.size(); ++i) {
    std::fill_n(encoding, options[i], 0.0F);
    encoding[architecture[i]] = 1.0F;
    encoding += options[i];
  }
}

void require_member(const SearchSpace& space, const Architecture& architecture) {
  const std::vector<int>& options = space.decisions();
  if (architecture.size() != options.size()) {
    throw InputError("an architecture of " + std::to_string(architecture.size()) + " decisions is none of " +
                     std::string(space.name()) + ", which has " + std::to_string(options.size()));
  }
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (architecture[i] < options[i]) continue;
    throw InputError("option " + std::to_string(architecture[i]) + " at decision " + std::to_string(i) +
                     " is none of " + std::string(space.name()) + ", which has options 0 to " +
                     std::to_string(options[i] - 1) + " there");
  }
}

}  // namespace tenshot::nasbench
