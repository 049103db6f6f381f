#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "nasbench/graph/network_builder.h"
#include "nasbench/spaces/synthetic_networks.h"
#include "nasbench/support/random.h"

namespace tenshot::nasbench {
namespace {

constexpr std::int64_t least_multiply_adds = 20'000'000, most_multiply_adds = 2'000'000'000;
constexpr std::int64_t classes = 1000;

std::int64_t multiple_of_8(double channels) {
  return std::max<std::int64_t>(8, 8 * static_cast<std::int64_t>(channels / 8 + .5));
}

class Drawn {
 public:
  Drawn(Rng& rng, int batch) : rng_(rng), batch_(batch) {}

  Network build() {
    const std::uint64_t form = rng_.below(16);
    if (form == 0) {
      of_tokens(half());
    } else if (form == 1) {
      of_wide_windows();
    } else {
      of_stages();
    }
    return b_.take();
  }

 private:
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[rng_.below(values.size())];
  }
  bool half() { return rng_.below(2) == 1; }
  int between(int least, int most) {
    return least + static_cast<int>(rng_.below(static_cast<std::uint64_t>(most - least + 1)));
  }
  std::int64_t channels_of(const Source& source) const { return b_.type(source).shape[1]; }
  std::int64_t channels() const { return channels_of(x_); }

  void image() {
    const std::int64_t size = 32 * between(3, 7);
    x_ = b_.input("input", {batch_, 3, size, size});
  }
  void classify() { b_.output(b_.linear("classes", b_.global_average_pool("mean", x_), classes)); }

  Source activated(const Source& x) { return b_.activation(activation_, x, activation_); }
  Source convolved(const Source& x, std::int64_t to, const WindowOptions& window, std::int64_t groups = 1) {
    return b_.convolution("convolution", x, to, {window, static_cast<int>(groups), !has_norms_});
  }
  Source normed(const Source& x, std::int64_t to, int kernel, int stride = 1, std::int64_t groups = 1) {
    const Source convolution = convolved(x, to, same_window(kernel, stride), groups);
    return has_norms_ ? b_.batch_norm("norm", convolution) : convolution;
  }
  Source usual(const Source& x, std::int64_t to, int kernel, int stride = 1, std::int64_t groups = 1) {
    return activated(normed(x, to, kernel, stride, groups));
  }
  Source depthwise(const Source& x, int kernel, int stride) {
    return normed(x, channels_of(x), kernel, stride, channels_of(x));
  }
  Source halved(const Source& x) { return b_.max_pool("pool", x, {same_window(3, 2), false, false}); }

  void of_stages() {
    activation_ = one_of({"relu", "relu", "relu6", "silu", "hard_swish"});
    if (activation_ == "hard_swish") gate_ = "hard_sigmoid";
    image();
    std::int64_t width = 8 * between(2, 8);
    const int stem = between(0, 2);
    x_ = usual(x_, stem == 0 ? multiple_of_8(width * .5) : width, stem == 1 ? 7 : 3, 2);
    if (stem == 1) x_ = halved(x_);
    for (int stage = 0; stage < 4; ++stage) {
      append_stage(width, stage > 0 || stem != 1 ? 2 : 1);
      width = multiple_of_8(static_cast<double>(width) * one_of({1.5, 2., 2., 2.5}));
    }
    if (half()) x_ = usual(x_, channels() * between(2, 4), 1);
    classify();
  }

  void append_stage(std::int64_t width, int stride) {
    switch (rng_.below(9)) {
      case 0: return residual(width, stride);
      case 1: return bottlenecks(width, stride);
      case 2: return inverted(width, stride);
      case 3: return dense(stride);
      case 4: return fires(width, stride);
      case 5: return shuffles(width, stride);
      case 6: return plain(width, stride);
      case 7: return separable(width, stride);
      default: return branches(width, stride);
    }
  }

  /// The way around a block that changes the image or the channels is a convolution.
  Source around(const Source& x, std::int64_t width, int stride) {
    return stride == 1 && channels_of(x) == width ? x : normed(x, width, 1, stride);
  }

  void residual(std::int64_t width, int stride) {
    for (int left = between(1, 3); left > 0; --left, stride = 1) {
      const Source body = normed(usual(x_, width, 3, stride), width, 3);
      x_ = activated(b_.add("sum", body, around(x_, width, stride)));
    }
  }

  void bottlenecks(std::int64_t width, int stride) {
    const std::int64_t group = one_of({0, 4, 8, 16, 24, 32});
    const bool excite = half();
    const int expansion = one_of({1, 2, 4});
    std::int64_t middle = width, groups = 1;
    if (group > 0) {
      groups = std::max<std::int64_t>(1, middle / group);
      middle = groups * group;
    }
    width *= expansion;
    for (int left = between(1, 4); left > 0; --left, stride = 1) {
      Source body = usual(usual(x_, middle, 1), middle, 3, stride, groups);
      if (excite) body = excited(body);
      x_ = activated(b_.add("sum", normed(body, width, 1), around(x_, width, stride)));
    }
  }

  void inverted(std::int64_t width, int stride) {
    const int kernel = one_of({3, 5, 7}), expansion = one_of({1, 3, 4, 6});
    const bool excite = half();
    for (int left = between(1, 4); left > 0; --left, stride = 1) {
      const Source before = x_;
      const bool is_same = stride == 1 && channels() == width;
      if (expansion > 1) x_ = usual(x_, channels() * expansion, 1);
      x_ = activated(depthwise(x_, kernel, stride));
      if (excite) x_ = excited(x_);
      x_ = normed(x_, width, 1);
      if (is_same) x_ = b_.add("sum", x_, before);
    }
  }

  /// Hu et al., CVPR 2018, §3, with a quarter of the channels.
  Source excited(const Source& x) {
    const ConvolutionOptions pointwise{{}, 1, true};
    Source gate = b_.convolution("reduce", b_.global_average_pool("squeeze", x, true), channels_of(x) / 4, pointwise);
    gate = b_.convolution("restore", activated(gate), channels_of(x), pointwise);
    return b_.multiply("excite", x, b_.activation("gate", gate, gate_));
  }

  void dense(int stride) {
    const std::int64_t growth = one_of({8, 12, 16, 24, 32});
    const auto before = [this](const Source& x) { return activated(b_.batch_norm("norm", x)); };
    if (stride == 2) {
      x_ = b_.convolution("transition", before(x_), multiple_of_8(static_cast<double>(channels()) / 2), {});
      x_ = b_.average_pool("pool", x_, {{{2, 2}, {2, 2}, {}, {}}, false, false});
    }
    for (int left = between(3, 8); left > 0; --left) {
      const Source narrow = b_.convolution("narrow", before(x_), 4 * growth, {});
      x_ = b_.concatenate("concatenation", {x_, b_.convolution("grown", before(narrow), growth, {same_window(3)})});
    }
  }

  void fires(std::int64_t width, int stride) {
    if (stride == 2) x_ = halved(x_);
    for (int left = between(1, 3); left > 0; --left) {
      const Source narrow = usual(x_, std::max<std::int64_t>(8, width / one_of({4, 8})), 1);
      x_ = b_.concatenate("concatenation", {usual(narrow, width / 2, 1), usual(narrow, width / 2, 3)});
    }
  }

  void shuffles(std::int64_t width, int stride) {
    const auto tail = [&](const Source& x, int step) {
      return usual(depthwise(usual(x, width / 2, 1), 3, step), width / 2, 1);
    };
    Source beside = stride == 1 ? x_ : depthwise(x_, 3, stride);
    x_ = b_.concatenate("concatenation", {usual(beside, width / 2, 1), tail(x_, stride)});
    x_ = b_.shuffle("shuffle", x_, 2);
    for (int left = between(1, 3); left > 0; --left) {
      const std::vector<Source> parts = b_.split("split", x_, {width / 2, width / 2});
      x_ = b_.shuffle("shuffle", b_.concatenate("concatenation", {parts[0], tail(parts[1], 1)}), 2);
    }
  }

  void plain(std::int64_t width, int stride) {
    has_norms_ = half();
    if (stride == 2) x_ = b_.max_pool("pool", x_, {{{2, 2}, {2, 2}, {}, {}}, false, false});
    for (int left = between(1, 3); left > 0; --left) x_ = usual(x_, width, 3);
    has_norms_ = true;
  }

  void separable(std::int64_t width, int stride) {
    const int kernel = one_of({3, 5, 7});
    for (int left = between(1, 4); left > 0; --left, stride = 1) {
      x_ = usual(activated(depthwise(x_, kernel, stride)), width, 1);
    }
  }

  void branches(std::int64_t width, int stride) {
    if (stride == 2) x_ = halved(x_);
    const std::int64_t quarter = multiple_of_8(static_cast<double>(width) / 4);
    for (int left = between(1, 2); left > 0; --left) {
      const int form = between(0, 2);
      Source large = usual(x_, quarter, 1);
      if (form == 0) {
        large = usual(large, quarter, 5);
      } else if (form == 1) {
        large = usual(usual(large, quarter, 3), quarter, 3);
      } else {
        large = activated(b_.batch_norm("norm", convolved(large, quarter, {{1, 7}, {1, 1}, {0, 3, 0, 3}, {}})));
        large = activated(b_.batch_norm("norm", convolved(large, quarter, {{7, 1}, {1, 1}, {3, 0, 3, 0}, {}})));
      }
      const Source pooled = half() ? b_.max_pool("pool", x_, {same_window(3), false, false})
                                   : b_.average_pool("pool", x_, {same_window(3), false, false});
      x_ = b_.concatenate("concatenation", {usual(x_, quarter, 1), usual(usual(x_, quarter, 1), quarter, 3), large,
                                            usual(pooled, quarter, 1)});
    }
  }

  /// ConvNeXt's blocks: a depthwise 7×7 convolution, then what a transformer does to a token, on every position.
  void of_wide_windows() {
    image();
    std::int64_t width = 8 * between(3, 6);
    const ConvolutionOptions patches{{{4, 4}, {4, 4}, {}, {}}, 1, true}, halving{{{2, 2}, {2, 2}, {}, {}}, 1, true};
    const auto at_positions = [this](auto apply) {
      x_ = b_.transpose("positions_first", x_, {0, 2, 3, 1});
      apply();
      x_ = b_.transpose("channels_first", x_, {0, 3, 1, 2});
    };
    x_ = b_.convolution("patches", x_, width, patches);
    for (int stage = 0; stage < 4; ++stage, width *= 2) {
      if (stage > 0) x_ = b_.convolution("halving", x_, width, halving);
      for (int left = between(1, 3); left > 0; --left) {
        const Source before = x_;
        x_ = b_.convolution("depthwise", x_, width, {same_window(7), static_cast<int>(width), true});
        at_positions([this, width] {
          x_ = b_.layer_norm("norm", x_);
          x_ = perceptron(x_, 4 * width);
        });
        x_ = b_.add("sum", x_, before);
      }
    }
    classify();
  }

  Source perceptron(const Source& x, std::int64_t wide) {
    const std::int64_t width = b_.type(x).shape.back();
    return b_.linear("narrowing", b_.activation("gelu", b_.linear("widening", x, wide), "gelu"), width);
  }

  void of_tokens(bool attends) {
    image();
    const std::int64_t heads = between(2, 6), width = heads * 16 * between(2, 4);
    const int patch = one_of({8, 16, 16, 32});
    const bool is_coarse = patch > 8;
    x_ = b_.convolution("patches", x_, width, {{{patch, patch}, {patch, patch}, {}, {}}, 1, true});
    const Shape grid = b_.type(x_).shape;
    const std::int64_t tokens = grid[2] * grid[3], wide = width * between(2, 4);
    x_ = b_.transpose("tokens", b_.reshape("flat", x_, {batch_, width, tokens}), {0, 2, 1});
    for (int left = is_coarse ? between(3, 12) : between(2, 4); left > 0; --left) {
      x_ = b_.add("sum", x_, attends ? attention(b_.layer_norm("norm", x_), heads) : mixed(b_.layer_norm("norm", x_)));
      x_ = b_.add("sum", x_, perceptron(b_.layer_norm("norm", x_), wide));
    }
    x_ = b_.transpose("channels_first", b_.layer_norm("norm", x_), {0, 2, 1});
    x_ = b_.reshape("grid", x_, grid);
    classify();
  }

  /// Vaswani et al., NeurIPS 2017, §3.2, on batch × tokens × channels.
  Source attention(const Source& x, std::int64_t heads) {
    const Shape shape = b_.type(x).shape;
    const std::int64_t tokens = shape[1], width = shape[2], own = width / heads;
    const std::vector<Source> parts =
        b_.split("split", b_.linear("projections", x, 3 * width), {width, width, width}, 2);
    const auto by_head = [&](const Source& part, std::vector<std::int64_t> order) {
      return b_.transpose("heads", b_.reshape("apart", part, {batch_, tokens, heads, own}), std::move(order));
    };
    const Source queries = by_head(parts[0], {0, 2, 1, 3}), keys = by_head(parts[1], {0, 2, 3, 1});
    const Source scores =
        b_.multiply_by("scale", b_.matrix_product("scores", queries, keys), 1 / std::sqrt(static_cast<double>(own)));
    const Source read = b_.matrix_product("read", b_.softmax("softmax", scores), by_head(parts[2], {0, 2, 1, 3}));
    const Source together = b_.reshape("together", b_.transpose("tokens_first", read, {0, 2, 1, 3}), shape);
    return b_.linear("projection", together, width);
  }

  Source mixed(const Source& x) {
    const std::int64_t width = b_.type(x).shape[2];
    return b_.transpose("back", perceptron(b_.transpose("across", x, {0, 2, 1}), width / 2), {0, 2, 1});
  }

  Rng& rng_;
  int batch_;
  NetworkBuilder b_;
  Source x_;
  std::string activation_ = "relu", gate_ = "sigmoid";
  bool has_norms_ = true;
};

}  // namespace

Network synthetic_blocks(std::uint64_t seed, std::uint64_t index, int batch) {
  Rng rng(seed, index);
  while (true) {
    Network network = Drawn(rng, batch).build();
    const std::int64_t of_an_image = multiply_adds(network) / batch;
    if (of_an_image >= least_multiply_adds && of_an_image <= most_multiply_adds) return network;
  }
}

}  // namespace tenshot::nasbench
