#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nasbench/graph/network.h"

namespace tenshot::descriptor {

/// Operators that test cases are made of, by their names in fusion rules (nasbench/kernels/fusion_rules.h).
std::vector<std::string> testable_operators();

/// The image that operators of test cases take. Of so small a one an operator takes what calling it takes, and that is
/// what every runtime saves where it fuses. Of larger ones arithmetic hides it: OpenCV computes a sigmoid within a
/// convolution more slowly than behind it.
struct CaseImage {
  int channels = 32;
  int size = 2;
};

/// What stands between operators that are not to fuse; runtimes fuse neither with its neighbours. A pair is taken for
/// fused where it is behind both: a runtime that keeps images in a layout of its own changes it around one of them, and
/// pairs that need no change look as if they saved something.
enum class Fence : std::uint8_t {
  softmax,  ///< along a row: in the usual layout
  pool      ///< the average of one pixel: in whichever layout the image has
};
/// "softmax", "pool".
std::string_view name(Fence fence);

/// Two networks of the same operators and as many fences, on one image. What only a call, the ends of a network or a
/// first change of layout cost is in both. Every operator keeps the shape of the image; "add" and "multiply" take the
/// network's image as their second input.
struct FusionCase {
  std::string name;            ///< "convolution__relu__pool"
  nasbench::Network apart;     ///< a fence behind every operator
  nasbench::Network together;  ///< the operators side by side, the fences behind them
  int repeats = 1;             ///< so often the operators stand in either network
};

/// `first`, and `second` on its output (Zhang et al., MobiSys 2021, Fig. 4a). Throws InputError where an operator is
/// not testable, as all of these do.
FusionCase pair_case(const std::string& first, const std::string& second, Fence fence, const CaseImage& image);

/// `first` whose output `left` and `right` read (Fig. 4b); both are outputs. Fenced by pools.
FusionCase fork_case(const std::string& first, const std::string& left, const std::string& right,
                     const CaseImage& image);

/// `left` and `right`, whose outputs the operator `join` of two tensors reads (Fig. 4c). Fenced by pools.
FusionCase join_case(const std::string& left, const std::string& right, const std::string& join,
                     const CaseImage& image);

/// `type` between softmaxes, and the softmaxes alone: what is saved is what the operator takes.
FusionCase operator_case(const std::string& type, const CaseImage& image);

/// An operator on an image of one pixel: what every call costs.
nasbench::Network empty_case();

/// All cases that a device is sent at once, where it cannot be asked one by one: every operator, every pair behind
/// either fence, and joins and forks of operators that runtimes are known to fuse.
std::vector<FusionCase> all_cases(const CaseImage& image);

}  // namespace tenshot::descriptor
