#include "nasbench/spaces/nasbench201_network.h"
#include "nasbench/support/text.h"

namespace tenshot::nasbench {
namespace {

constexpr std::string_view example = "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|avg_pool_3x3~0|nor_conv_1x1~1|none~2|";

/// An architecture's string is this, then for each edge its operation and what follows it.
constexpr std::string_view beginning = "|";
constexpr std::array<std::string_view, edge_count> after_operation = {"~0|+|", "~0|", "~1|+|", "~0|", "~1|", "~2|"};

bool continues_with(std::string_view text, std::size_t position, std::string_view part) {
  return text.compare(position, part.size(), part) == 0;
}

/// At most `limit` characters of `text` in quotation marks, on one line whatever they are.
std::string quoted(std::string_view text, std::size_t limit) {
  std::string quoted = "'";
  for (const char c : text.substr(0, limit)) quoted.push_back(c >= ' ' && c <= '~' ? c : '?');
  return quoted + (text.size() > limit ? "…'" : "'");
}

[[noreturn]] void reject(std::string_view text, std::size_t position, const std::string& expected) {
  const std::string found = position < text.size() ? quoted(text.substr(position), 16) : std::string("the end");
  throw InputError(quoted(text, 120) + " is no NAS-Bench-201 architecture: character " + std::to_string(position + 1) +
                   " starts " + found + ", expected " + expected + "; write it like " + std::string(example));
}

/// Moves `position` behind `part`.
void expect(std::string_view text, std::size_t& position, std::string_view part) {
  if (!continues_with(text, position, part)) reject(text, position, quoted(part, part.size()));
  position += part.size();
}

}  // namespace

Architecture NasBench201::parse(std::string_view text) const {
  Architecture architecture(edge_count);
  std::size_t position = 0;
  expect(text, position, beginning);
  for (std::size_t e = 0; e < edge_count; ++e) {
    const auto operation = std::find_if(operation_names.begin(), operation_names.end(),
                                        [&](std::string_view name) { return continues_with(text, position, name); });
    if (operation == operation_names.end()) reject(text, position, "one of " + joined(operation_names));
    architecture[e] = static_cast<std::uint8_t>(operation - operation_names.begin());
    position += operation->size();
    expect(text, position, after_operation[e]);
  }
  if (position != text.size()) reject(text, position, "the end");
  return architecture;
}

void NasBench201::append_format(std::string& text, const Architecture& architecture) const {
  const Cell cell = cell_of(architecture);
  text += beginning;
  for (std::size_t e = 0; e < edge_count; ++e) {
    text += operation_names[static_cast<std::size_t>(cell[e])];
    text += after_operation[e];
  }
}

std::vector<double> NasBench201::operation_counts(const Architecture& architecture) const {
  std::vector<double> counts(counted_operations_.size());
  for (const Operation operation : cell_of(architecture)) {
    if (operation != Operation::none) counts[static_cast<std::size_t>(operation) - 1] += 1;
  }
  return counts;
}

// Edges on no path become none. Every path that is left keeps all of its edges, so that once is enough. An edge out
// of a node that the image does not reach contributes a constant at most (a batch norm's shift), which counts as
// nothing. Exchanging nodes 1 and 2 where no operation joins them also computes the same function, but it moves the
// zero of that edge and its addition to another branch, which a runtime can tell: such cells stay apart.
Architecture NasBench201::canonical(const Architecture& architecture) const {
  Cell cell = cell_of(architecture);
  const EdgeSet live = live_edges(cell);
  for (std::size_t e = 0; e < edge_count; ++e) {
    if ((live >> e & 1U) == 0) cell[e] = Operation::none;
  }
  return architecture_of(cell);
}

EdgeSet live_edges(const Cell& cell) {
  EdgeSet present = 0, live = 0;
  for (std::size_t e = 0; e < edge_count; ++e) present |= static_cast<EdgeSet>((cell[e] != Operation::none) << e);
  for (const EdgeSet path : cell_paths) live |= (present & path) == path ? path : 0;
  return live;
}

Cell cell_of(const Architecture& architecture) {
  if (architecture.size() != edge_count) {
    throw InputError("an architecture of " + std::to_string(architecture.size()) +
                     " decisions is no NAS-Bench-201 cell, which has " + std::to_string(edge_count) + " edges");
  }
  Cell cell;
  for (std::size_t e = 0; e < edge_count; ++e) {
    if (architecture[e] >= operation_count) {
      throw InputError("operation " + std::to_string(architecture[e]) + " on edge " + std::to_string(e) +
                       " does not exist in NAS-Bench-201, which has " + std::to_string(operation_count));
    }
    cell[e] = static_cast<Operation>(architecture[e]);
  }
  return cell;
}

Architecture architecture_of(const Cell& cell) {
  Architecture architecture(edge_count);
  for (std::size_t e = 0; e < edge_count; ++e) architecture[e] = static_cast<std::uint8_t>(cell[e]);
  return architecture;
}

const SearchSpace& nasbench201() {
  static const NasBench201 space;
  return space;
}

}  // namespace tenshot::nasbench
