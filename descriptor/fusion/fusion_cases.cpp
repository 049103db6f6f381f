#include "descriptor/fusion/fusion_cases.h"

#include <optional>

#include "nasbench/graph/network_builder.h"
#include "nasbench/support/error.h"
#include "nasbench/support/text.h"

namespace tenshot::descriptor {
namespace {

using nasbench::NetworkBuilder;
using nasbench::same_window;
using nasbench::Source;

/// Builds cases; every operator keeps the shape of the image.
class CaseBuilder {
 public:
  explicit CaseBuilder(const CaseImage& image) : image_(image) {}

  Source image() {
    if (!input_ || !image_.one_input) {
      input_ = builder_.input("input", {1, image_.channels, image_.size, image_.size});
    }
    return *input_;
  }

  Source apply(const std::string& type, const Source& x) {
    if (type == "add") return builder_.add(type, x, image());
    if (type == "multiply") return builder_.multiply(type, x, image());
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
  NetworkBuilder builder_;
  CaseImage image_;
  std::optional<Source> input_;  ///< the last one
};

}  // namespace

std::vector<std::string> testable_operators() {
  return {"convolution", "depthwise_convolution",
          "max_pool",    "average_pool",
          "batch_norm",  "relu",
          "hard_swish",  "sigmoid",
          "add",         "multiply"};
}

nasbench::Network single_case(const std::string& type, const CaseImage& image) {
  CaseBuilder b(image);
  return b.finish({b.apply(type, b.image())});
}

nasbench::Network pair_case(const std::string& first, const std::string& second, const CaseImage& image) {
  CaseBuilder b(image);
  return b.finish({b.apply(second, b.apply(first, b.image()))});
}

nasbench::Network fork_case(const std::string& first, const std::string& left, const std::string& right,
                            const CaseImage& image) {
  CaseBuilder b(image);
  const Source trunk = b.apply(first, b.image());
  const Source one = b.apply(left, trunk);
  return b.finish({one, b.apply(right, trunk)});
}

nasbench::Network join_case(const std::string& left, const std::string& right, const std::string& join,
                            const CaseImage& image) {
  CaseBuilder b(image);
  const Source one = b.apply(left, b.image());
  return b.finish({b.join(join, one, b.apply(right, b.image()))});
}

std::vector<NamedCase> all_cases(const CaseImage& of) {
  CaseImage image = of;
  image.one_input = true;
  const std::vector<std::string> all = testable_operators();
  std::vector<NamedCase> cases;
  for (const std::string& type : all) cases.push_back({type, single_case(type, image)});
  for (const std::string& first : all) {
    for (const std::string& second : all) {
      cases.push_back({first + "__" + second, pair_case(first, second, image)});
    }
  }
  for (const std::string join : {"add", "multiply"}) {
    for (std::size_t left = 0; all[left] != "add"; ++left) {
      for (std::size_t right = left + 1; all[right] != "add"; ++right) {
        cases.push_back(
            {all[left] + "__" + all[right] + "__join__" + join, join_case(all[left], all[right], join, image)});
      }
    }
  }
  const std::vector<std::string> behind = {"batch_norm", "relu", "hard_swish", "sigmoid"};
  for (const std::string first : {"convolution", "depthwise_convolution", "batch_norm", "add"}) {
    for (const std::string& left : behind) {
      for (const std::string& right : behind) {
        if (left == right) continue;
        cases.push_back({first + "__fork__" + left + "__" + right, fork_case(first, left, right, image)});
      }
    }
  }
  return cases;
}

nasbench::Network empty_case() { return single_case("relu", {1, 1}); }

}  // namespace tenshot::descriptor
