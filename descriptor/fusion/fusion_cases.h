#pragma once

#include <string>
#include <vector>

#include "nasbench/graph/network.h"

namespace tenshot::descriptor {

/// Operators that test cases are made of, by their names in fusion rules (nasbench/kernels/fusion_rules.h).
std::vector<std::string> testable_operators();

/// The image that operators of test cases take: large enough that the cheapest one takes longer than a call.
struct CaseImage {
  int channels = 32;
  int size = 112;
  /// Operators of two tensors take the image twice, so that every case has one input, as the models of a kit must.
  bool one_input = false;
};

/// One operator on an image. "add" and "multiply" take a second image of their own, which the caller gives, unless the
/// case has one input. Throws InputError where `type` is no testable operator.
nasbench::Network single_case(const std::string& type, const CaseImage& image);

/// `first`, and `second` on its output (Zhang et al., MobiSys 2021, Fig. 4a).
nasbench::Network pair_case(const std::string& first, const std::string& second, const CaseImage& image);

/// `first` whose output `left` and `right` read (Fig. 4b); both are outputs.
nasbench::Network fork_case(const std::string& first, const std::string& left, const std::string& right,
                            const CaseImage& image);

/// `left` and `right`, each on an image of its own, whose outputs the operator `join` of two tensors reads (Fig. 4c).
nasbench::Network join_case(const std::string& left, const std::string& right, const std::string& join,
                            const CaseImage& image);

/// An operator on an image of one pixel: what every call costs.
nasbench::Network empty_case();

/// A case with a name of its own: "convolution__relu".
struct NamedCase {
  std::string name;
  nasbench::Network network;
};

/// All cases that a device is sent at once, where it cannot be asked one by one: every operator, every pair, the joins
/// of every two operators by an addition or a multiplication, and forks of operators that runtimes are known to fuse
/// something behind, to two of the operators that they fuse. 214 cases, each with one input.
std::vector<NamedCase> all_cases(const CaseImage& image);

}  // namespace tenshot::descriptor
