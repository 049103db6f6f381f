#include "nasbench/spaces/network_space.h"

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

}  // namespace tenshot::nasbench
