#include <algorithm>
#include <array>
#include <initializer_list>

#include "nasbench/graph/network_builder.h"
#include "nasbench/spaces/synthetic_networks.h"
#include "nasbench/support/random.h"

namespace tenshot::nasbench {
namespace {

constexpr int block_count = 9, narrow_blocks = 5;

class SyntheticCnn {
 public:
  SyntheticCnn(std::uint64_t seed, std::uint64_t index, int batch) : rng_(seed, index) {
    x_ = builder_.input("input", {batch, 3, 224, 224});
  }

  Network build() {
    for (int block = 1; block <= block_count; ++block) {
      prefix_ = "block" + std::to_string(block) + "_";
      stride_ = block == 1 || block % 2 == 0 ? 2 : 1;
      const std::int64_t channels = block <= narrow_blocks ? multiple_of_4(8, 80) : multiple_of_4(80, 400);
      switch (rng_.below(5)) {
        case 0: convolution(channels); break;
        case 1: separable(channels); break;
        case 2: bottleneck(channels); break;
        case 3: pool(); break;
        default: split();
      }
    }
    prefix_ = "head_";
    x_ = normalised("convolution", x_, multiple_of_4(1200, 1800), {same_window(1)}, true);
    builder_.output(builder_.linear("classes", builder_.global_average_pool("mean", x_), 1000));
    return builder_.take();
  }

 private:
  std::int64_t multiple_of_4(std::int64_t least, std::int64_t most) {
    return least + 4 * static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>((most - least) / 4 + 1)));
  }
  int one_of(std::initializer_list<int> values) { return values.begin()[rng_.below(values.size())]; }
  int kernel() { return one_of({3, 5, 7}); }
  std::int64_t channels_of(const Source& source) const { return builder_.type(source).shape[1]; }

  Source normalised(const std::string& name, const Source& input, std::int64_t channels,
                    const ConvolutionOptions& options, bool relu) {
    const Source convolved = builder_.convolution(prefix_ + name, input, channels, options);
    const Source norm = builder_.batch_norm(prefix_ + name + "_norm", convolved);
    return relu ? builder_.activation(prefix_ + name + "_relu", norm, "relu") : norm;
  }

  int groups(std::int64_t in, std::int64_t out) {
    std::vector<int> choices;
    for (int group = 4; group <= 64; group += 4) {
      if (in % group == 0 && out % group == 0) choices.push_back(group);
    }
    if (choices.empty() || rng_.below(2) == 0) return 1;
    return choices[rng_.below(choices.size())];
  }

  void convolution(std::int64_t channels) {
    const int size = kernel();
    x_ = normalised("convolution", x_, channels, {same_window(size, stride_), groups(channels_of(x_), channels)}, true);
  }

  void separable(std::int64_t channels) {
    const std::int64_t in = channels_of(x_);
    x_ = normalised("depthwise", x_, in, {same_window(kernel(), stride_), static_cast<int>(in)}, true);
    x_ = normalised("pointwise", x_, channels, {same_window(1)}, true);
  }

  void bottleneck(std::int64_t channels) {
    const Source before = x_;
    const std::int64_t wide = channels_of(x_) * one_of({1, 3, 6});
    const int size = kernel();
    const bool excited = rng_.below(2) == 1;
    if (wide != channels_of(x_)) x_ = normalised("expansion", x_, wide, {same_window(1)}, true);
    x_ = normalised("depthwise", x_, wide, {same_window(size, stride_), static_cast<int>(wide)}, true);
    if (excited) excite();
    x_ = normalised("projection", x_, channels, {same_window(1)}, false);
    if (stride_ == 1 && channels == channels_of(before)) x_ = builder_.add(prefix_ + "sum", before, x_);
  }

  /// Hu et al., CVPR 2018, §3, with a quarter of the channels.
  void excite() {
    const std::int64_t channels = channels_of(x_);
    const ConvolutionOptions pointwise{{}, 1, true};
    Source gate = builder_.global_average_pool(prefix_ + "squeeze", x_, true);
    gate = builder_.convolution(prefix_ + "reduce", gate, std::max<std::int64_t>(1, channels / 4), pointwise);
    gate = builder_.activation(prefix_ + "reduce_relu", gate, "relu");
    gate = builder_.convolution(prefix_ + "restore", gate, channels, pointwise);
    x_ = builder_.multiply(prefix_ + "excite", x_, builder_.activation(prefix_ + "gate", gate, "sigmoid"));
  }

  void pool() {
    const bool average = rng_.below(2) == 0;
    const PoolOptions options{same_window(one_of({1, 3}), stride_), false, false};
    x_ = average ? builder_.average_pool(prefix_ + "average", x_, options)
                 : builder_.max_pool(prefix_ + "max", x_, options);
  }

  void split() {
    const auto parts = static_cast<std::int64_t>(2 + rng_.below(3));
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(parts), channels_of(x_) / parts);
    sizes.back() += channels_of(x_) % parts;
    if (sizes.front() == 0) sizes = {channels_of(x_)};
    std::vector<Source> pieces = builder_.split(prefix_ + "split", x_, sizes);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      pieces[i] = elementwise(prefix_ + "part" + std::to_string(i + 1), pieces[i]);
    }
    x_ = builder_.concatenate(prefix_ + "concatenation", pieces);
    if (stride_ == 2) x_ = builder_.max_pool(prefix_ + "max", x_, {same_window(3, 2), false, false});
  }

  Source elementwise(const std::string& name, const Source& input) {
    constexpr std::array<const char*, 4> functions = {"relu", "sigmoid", "hard_swish", "tanh"};
    const std::uint64_t choice = rng_.below(6);
    if (choice < functions.size()) return builder_.activation(name, input, functions[choice]);
    return choice == 4 ? builder_.add(name, input, input) : builder_.multiply(name, input, input);
  }

  Rng rng_;
  NetworkBuilder builder_;
  Source x_;
  std::string prefix_;
  int stride_ = 1;
};

}  // namespace

Network synthetic_cnn(std::uint64_t seed, std::uint64_t index, int batch) {
  return SyntheticCnn(seed, index, batch).build();
}

}  // namespace tenshot::nasbench
