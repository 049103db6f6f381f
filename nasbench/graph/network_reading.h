#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "nasbench/graph/network.h"
#include "nasbench/graph/operator_specification.h"

namespace tenshot::nasbench {

/// What a network's file leaves open, whatever its format is.
struct NetworkReadOptions {
  std::int64_t batch = 1;               ///< for inputs whose first dimension is open
  std::map<std::string, Shape> shapes;  ///< by name of input; has to agree with what the file fixes
  /// Where the shapes are for several networks: the names of the inputs of those that were read, to which readers of
  /// several add. A shape for an input that this network has not is then passed over; without it, it is refused.
  std::shared_ptr<std::set<std::string>> inputs_of_several = nullptr;
};

/// "input=1x3x224x224" as it is given on the command line. Throws InputError that shows a correct one.
std::pair<std::string, Shape> parse_input_shape(std::string_view text);

/// Throws InputError where a shape is for none of the inputs, which have those names, and for this network alone.
void require_inputs(const NetworkReadOptions& options, const std::set<std::string>& names);

/// A shape that an input may be given, as it is written on the command line, where `open` has 0 for what its file
/// leaves open: the batch in front, 3 channels of 224 pixels in an image, 128 steps in a sequence.
std::string example_shape(const Shape& open, std::int64_t batch = 1);

/// Opens the file to read, and returns how many bytes it has. Throws FileError where it cannot be read, is no regular
/// file, or is a folder, "no KIND".
std::uint64_t open_network_file(std::ifstream& file, const std::filesystem::path& path, const std::string& kind);

/// Whether the nodes from `middle` on, a branch of a condition, compute less than those from `first` to before it.
bool computes_less(const Network& network, std::size_t first, std::size_t middle);

/// What is said of a condition of which the larger branch counts, or one alone where `fault` says why the other cannot
/// be read; and of a loop that counts as one iteration.
std::string remark_on_branches(const std::string& kind, const std::string& name, const std::string& fault = "");
std::string remark_on_open_loop(const std::string& kind, const std::string& name);

/// The network without nodes that no output needs, and with one operator for each group of nodes that stands for one:
///
///   linear layer + its constant        → linear with bias
///   global pool + flattening           → global pool
///   reshape after reshape              → one of them
///   reshape to the same shape, padding by nothing → none
///   reshape, transpose, reshape of channels in groups → shuffle
///   x · sigmoid(x), x · hard_sigmoid(x), relu6(x + 3) / 6 → SiLU, hard-swish, hard-sigmoid
///   x · (1 + erf(x / √2)) / 2          → GELU
///   mean, difference, power, mean, addition, root, division, scale, shift → layer norm
///   reshape, instance norm, reshape, scale, shift → group norm
///
/// Nodes in between are merged only where nothing else reads them.
Network simplified(Network network);

/// The network that `read` finds in a file: simplified and checked, with a remark on weights that are not understood.
/// What `read` throws is thrown with the file's name, in one line.
Network read_checked(const std::filesystem::path& path, const std::function<Network()>& read);

}  // namespace tenshot::nasbench
