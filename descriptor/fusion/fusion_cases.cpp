#include "descriptor/fusion/fusion_cases.h"

#include "nasbench/graph/network_builder.h"
#include "nasbench/support/error.h"
#include "nasbench/support/text.h"

namespace tenshot::descriptor {
namespace {

using nasbench::same_window;
using nasbench::Source;

/// So often an operator or a pair stands in its networks: its saving grows with it, and what a call costs does not.
constexpr int repeats_of_case = 6;

/// Builds a network of a case; every operator keeps the shape of the image.
class CaseBuilder {
 public:
  CaseBuilder(const CaseImage& image, Fence fence)
      : image_(image),
        fence_(fence),
        input_(builder_.input("input", {1, image_.channels, image_.size, image_.size})),
        begin_(fenced(input_)) {}

  /// The image behind a fence: an operator on it never reads the very tensor that additions take.
  const Source& begin() const { return begin_; }

  Source fenced(const Source& x) {
    if (fence_ == Fence::pool) return builder_.average_pool("fence", x, {same_window(1), false, false});
    return builder_.softmax("fence", x);
  }

  Source apply(const std::string& type, const Source& x) {
    if (type == "add") return builder_.add(type, x, input_);
    if (type == "multiply") return builder_.multiply(type, x, input_);
    if (type == "convolution") return builder_.convolution(type, x, image_.channels, {same_window(1), 1, false});
    if (type == "depthwise_convolution") {
      return builder_.convolution(type, x, image_.channels, {same_window(3), image_.channels, false});
    }
    if (type == "max_pool") return builder_.max_pool(type, x, {same_window(3), false, false});
    if (type == "average_pool") return builder_.average_pool(type, x, {same_window(3), false, false});
    if (type == "batch_norm") return builder_.batch_norm(type, x);
    if (type == "relu" || type == "hard_swish" || type == "sigmoid") return builder_.activation(type, x, type);
    throw InputError("there are no test cases of the operator '" + excerpt(type) + "'; there are of " +
                     joined(testable_operators()));
  }

  Source join(const std::string& type, const Source& left, const Source& right) {
    if (type == "multiply") return builder_.multiply(type, left, right);
    if (type == "add") return builder_.add(type, left, right);
    throw InputError("'" + excerpt(type) + "' joins no two tensors, expected add or multiply");
  }

  nasbench::Network finish(const std::vector<Source>& outputs) {
    for (const Source& output : outputs) builder_.output(output);
    return builder_.take();
  }

 private:
  nasbench::NetworkBuilder builder_;
  CaseImage image_;
  Fence fence_;
  Source input_, begin_;
};

}  // namespace

std::vector<std::string> testable_operators() {
  return {"convolution", "depthwise_convolution",
          "max_pool",    "average_pool",
          "batch_norm",  "relu",
          "hard_swish",  "sigmoid",
          "add",         "multiply"};
}

std::string_view name(Fence fence) { return fence == Fence::pool ? "pool" : "softmax"; }

FusionCase pair_case(const std::string& first, const std::string& second, Fence fence, const CaseImage& image) {
  const auto network = [&](bool apart) {
    CaseBuilder b(image, fence);
    Source x = b.begin();
    for (int i = 0; i < repeats_of_case; ++i) {
      x = b.apply(first, x);
      if (apart) x = b.fenced(x);
      x = b.fenced(b.apply(second, x));
      if (!apart) x = b.fenced(x);
    }
    return b.finish({x});
  };
  return {first + "__" + second + "__" + std::string(name(fence)), network(true), network(false), repeats_of_case};
}

FusionCase fork_case(const std::string& first, const std::string& left, const std::string& right,
                     const CaseImage& image) {
  const auto network = [&](bool apart) {
    CaseBuilder b(image, Fence::pool);
    const Source trunk = b.apply(first, b.begin());
    std::vector<Source> outputs;
    for (const std::string& branch : {left, right}) {
      const Source x = b.fenced(b.apply(branch, apart ? b.fenced(trunk) : trunk));
      outputs.push_back(apart ? x : b.fenced(x));
    }
    return b.finish(outputs);
  };
  return {first + "__fork__" + left + "__" + right, network(true), network(false)};
}

FusionCase join_case(const std::string& left, const std::string& right, const std::string& join,
                     const CaseImage& image) {
  const auto network = [&](bool apart) {
    CaseBuilder b(image, Fence::pool);
    Source one = b.apply(left, b.begin()), other = b.apply(right, b.begin());
    if (apart) {
      one = b.fenced(one);
      other = b.fenced(other);
    }
    Source x = b.join(join, one, other);
    if (!apart) x = b.fenced(b.fenced(x));
    return b.finish({x});
  };
  return {left + "__" + right + "__join__" + join, network(true), network(false)};
}

FusionCase operator_case(const std::string& type, const CaseImage& image) {
  const auto network = [&](bool with_it) {
    CaseBuilder b(image, Fence::softmax);
    Source x = b.begin();
    for (int i = 0; i < repeats_of_case; ++i) x = b.fenced(with_it ? b.apply(type, x) : x);
    return b.finish({x});
  };
  return {type, network(true), network(false), repeats_of_case};
}

nasbench::Network empty_case() {
  nasbench::NetworkBuilder builder;
  builder.output(builder.activation("relu", builder.input("input", {1, 1, 1, 1}), "relu"));
  return builder.take();
}

std::vector<FusionCase> all_cases(const CaseImage& image) {
  const std::vector<std::string> all = testable_operators();
  std::vector<FusionCase> cases;
  for (const std::string& type : all) cases.push_back(operator_case(type, image));
  for (const std::string& first : all) {
    for (const std::string& second : all) {
      for (const Fence fence : {Fence::softmax, Fence::pool}) cases.push_back(pair_case(first, second, fence, image));
    }
  }
  const std::vector<std::string> before = {"batch_norm", "convolution", "depthwise_convolution", "relu"};
  const std::vector<std::string> behind = {"batch_norm", "hard_swish", "relu", "sigmoid"};
  for (std::size_t left = 0; left < before.size(); ++left) {
    for (std::size_t right = left + 1; right < before.size(); ++right) {
      for (const char* join : {"add", "multiply"}) cases.push_back(join_case(before[left], before[right], join, image));
      for (const char* first : {"convolution", "depthwise_convolution", "batch_norm", "add"}) {
        cases.push_back(fork_case(first, behind[left], behind[right], image));
      }
    }
  }
  return cases;
}

}  // namespace tenshot::descriptor
