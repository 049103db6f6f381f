#include "experiments/kernels/published_cnn.h"

#include <functional>
#include <map>

#include "nasbench/graph/network_builder.h"
#include "nasbench/support/error.h"
#include "nasbench/support/text.h"

namespace tenshot::experiments {

using nasbench::Network;
using nasbench::NetworkBuilder;
using nasbench::same_window;
using nasbench::Source;
using nasbench::WindowOptions;

namespace {

using Stages = std::vector<std::vector<int>>;  ///< channels of the units of each stage

WindowOptions valid_window(int kernel, int stride) { return {{kernel, kernel}, {stride, stride}, {}, {}}; }

int scaled(int channels, double width) { return static_cast<int>(channels * width); }

/// A NetworkBuilder with the units that published networks have in common.
struct Units : NetworkBuilder {
  Source image() { return input("input", {1, 3, 224, 224}); }
  std::int64_t channels(const Source& x) const { return type(x).shape[1]; }

  Source plain(const Source& x, int channels, int kernel, int stride = 1, int groups = 1, bool bias = false) {
    return convolution("conv", x, channels, {same_window(kernel, stride), groups, bias});
  }
  Source depthwise(const Source& x, int stride) {
    return convolution("depthwise", x, channels(x), {same_window(3, stride), static_cast<int>(channels(x)), false});
  }
  Source normed(const Source& x) { return batch_norm("norm", x); }
  Source relu(const Source& x) { return activation("relu", x, "relu"); }
  Source relu6(const Source& x) { return activation("relu6", x, "relu6"); }
  Source max_pool3(const Source& x) { return max_pool("pool", x, {same_window(3, 2), false, false}); }

  /// Mean over the positions, 1×1 convolution to a sixteenth, ReLU, 1×1 convolution, sigmoid: in two parts, because
  /// another convolution is executed in between.
  Source squeeze(const Source& x) { return global_average_pool("squeeze", x, true); }
  Source excite(const Source& x, const Source& squeezed) {
    const int all = static_cast<int>(channels(x));
    const Source hidden = relu(plain(squeezed, all / 16, 1, 1, 1, true));
    return multiply("excite", x, activation("gate", plain(hidden, all, 1, 1, 1, true), "sigmoid"));
  }

  void classify(const Source& x, int classes = 1000) {
    output(linear("classifier", global_average_pool("mean", x), classes));
  }
};

struct ResidualOptions {
  std::vector<int> layers;  ///< units of each stage
  double width = 1;         ///< of all channels but the last unit's
  bool bottleneck = false;  ///< 1×1, 3×3, 1×1 instead of two 3×3
  bool pre_activation = false;
  bool squeeze_excite = false;
  int groups = 1;       ///< of a bottleneck's 3×3 convolution
  int group_width = 0;  ///< channels of a group where the network is 64 wide; 0: a quarter of the unit's channels
};

class Residual : Units {
 public:
  explicit Residual(const ResidualOptions& options) : options_(options) {}

  Network build() {
    Source x = max_pool3(relu(normed(plain(image(), scaled(64, options_.width), 7, 2))));
    for (std::size_t stage = 0; stage < options_.layers.size(); ++stage) {
      const int full = (64 << stage) * (options_.bottleneck ? 4 : 1);
      for (int unit = 0; unit < options_.layers[stage]; ++unit) {
        const bool last = stage + 1 == options_.layers.size() && unit + 1 == options_.layers[stage];
        x = append_unit(x, last ? full : scaled(full, options_.width), unit == 0 && stage > 0 ? 2 : 1);
      }
    }
    classify(options_.pre_activation ? relu(normed(x)) : x);
    return take();
  }

 private:
  Source append_unit(const Source& x, int out, int stride) {
    const bool resize = channels(x) != out || stride != 1;
    const Source activated = options_.pre_activation ? relu(normed(x)) : x;
    Source body = options_.bottleneck ? bottleneck(activated, out, stride) : basic(activated, out, stride);
    const Source squeezed = options_.squeeze_excite ? squeeze(body) : Source{};
    Source identity = x;
    if (resize) identity = plain(activated, out, 1, stride);
    if (resize && !options_.pre_activation) identity = normed(identity);
    if (options_.squeeze_excite) body = excite(body, squeezed);
    const Source sum = add("sum", body, identity);
    return options_.pre_activation ? sum : relu(sum);
  }

  Source basic(const Source& x, int out, int stride) {
    const Source second = plain(relu(normed(plain(x, out, 3, stride))), out, 3);
    return options_.pre_activation ? second : normed(second);
  }

  Source bottleneck(const Source& x, int out, int stride) {
    const int narrow = options_.group_width > 0 ? out / 256 * options_.groups * options_.group_width : out / 4;
    const Source first = relu(normed(plain(x, narrow, 1)));
    const Source middle = relu(normed(plain(first, narrow, 3, stride, options_.groups)));
    const Source last = plain(middle, out, 1);
    return options_.pre_activation ? last : normed(last);
  }

  ResidualOptions options_;
};

Network mobilenet(Stages stages, double width, bool stride_in_first, bool activate_depthwise) {
  Units b;
  Source x = b.relu(b.normed(b.plain(b.image(), scaled(32, width), 3, 2)));
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    for (std::size_t unit = 0; unit < stages[stage].size(); ++unit) {
      const int stride = unit == 0 && (stage > 0 || stride_in_first) ? 2 : 1;
      x = b.depthwise(x, stride);
      if (activate_depthwise) x = b.relu(b.normed(x));
      x = b.relu(b.normed(b.plain(x, scaled(stages[stage][unit], width), 1)));
    }
  }
  b.classify(x);
  return b.take();
}

Network mobilenet_v2(double width, bool expand_by_one) {
  struct Stage {
    int channels, units, stride;
  };
  Units b;
  Source x = b.relu6(b.normed(b.plain(b.image(), scaled(32, width), 3, 2)));
  for (const Stage& stage : {Stage{16, 1, 1}, Stage{24, 2, 2}, Stage{32, 3, 2}, Stage{64, 4, 2}, Stage{96, 3, 1},
                             Stage{160, 3, 2}, Stage{320, 1, 1}}) {
    for (int unit = 0; unit < stage.units; ++unit) {
      const int out = scaled(stage.channels, width), stride = unit == 0 ? stage.stride : 1;
      const bool first = stage.channels == 16, residual = b.channels(x) == out && stride == 1;
      Source inside = x;
      const int wide = static_cast<int>(b.channels(x)) * (first ? 1 : 6);
      if (!first || expand_by_one) inside = b.relu6(b.normed(b.plain(inside, wide, 1)));
      inside = b.normed(b.plain(b.relu6(b.normed(b.depthwise(inside, stride))), out, 1));
      x = residual ? b.add("sum", inside, x) : inside;
    }
  }
  x = b.relu6(b.normed(b.plain(x, 1280, 1)));
  x = b.average_pool("mean", x, {valid_window(7, 1), false, false});
  b.output(b.reshape("flat", b.plain(x, 1000, 1), {1, 1000}));
  return b.take();
}

Network densenet(const std::vector<int>& layers) {
  Units b;
  Source x = b.max_pool3(b.relu(b.normed(b.plain(b.image(), 64, 7, 2))));
  for (std::size_t stage = 0; stage < layers.size(); ++stage) {
    if (stage > 0) {
      x = b.plain(b.relu(b.normed(x)), static_cast<int>(b.channels(x)) / 2, 1);
      // TensorFlow splits the pool with stride 2 into one with stride 1 and a subsampling.
      x = b.average_pool("pool", x, {valid_window(2, 1), false, false});
      x = b.average_pool("subsample", x, {valid_window(1, 2), false, false});
    }
    for (int unit = 0; unit < layers[stage]; ++unit) {
      const Source narrow = b.plain(b.relu(b.normed(x)), 128, 1);
      x = b.concatenate("concat", {x, b.plain(b.relu(b.normed(narrow)), 32, 3)});
    }
  }
  b.classify(b.relu(b.normed(x)));
  return b.take();
}

Network squeezenet(const Stages& stages, const Stages& residuals, bool wide_stem) {
  Units b;
  const WindowOptions stem = valid_window(wide_stem ? 7 : 3, 2);
  Source x = b.relu(b.convolution("stem", b.image(), wide_stem ? 96 : 64, {stem, 1, true}));
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    x = b.max_pool("pool", x, {valid_window(3, 2), true, false});
    for (std::size_t unit = 0; unit < stages[stage].size(); ++unit) {
      const int out = stages[stage][unit];
      const Source narrow = b.relu(b.plain(x, out / 8, 1, 1, 1, true));
      const Source left = b.relu(b.plain(narrow, out / 2, 1, 1, 1, true));
      const Source right = b.relu(b.plain(narrow, out / 2, 3, 1, 1, true));
      const Source fire = b.concatenate("concat", {left, right});
      x = !residuals.empty() && residuals[stage][unit] != 0 ? b.add("sum", fire, x) : fire;
    }
  }
  b.output(b.global_average_pool("mean", b.relu(b.plain(x, 1000, 1, 1, 1, true))));
  return b.take();
}

using Builders = std::map<std::string, std::function<Network()>, std::less<>>;

void add_residual(Builders& all, const std::string& name, const ResidualOptions& options) {
  all[name] = [options] { return Residual(options).build(); };
}

void add_residuals(Builders& all) {
  const std::map<std::string, std::vector<int>> depths = {
      {"10", {1, 1, 1, 1}}, {"12", {2, 1, 1, 1}}, {"14", {2, 2, 1, 1}}, {"16", {2, 2, 2, 1}}, {"18", {2, 2, 2, 2}}};
  for (const bool pre : {false, true}) {
    const std::string stem = pre ? "preresnet" : "resnet";
    for (const auto& [depth, layers] : depths) {
      add_residual(all, stem + depth, {layers, 1, false, pre});
      add_residual(all, "se" + stem + depth, {layers, 1, false, pre, true});
    }
    for (const auto& [suffix, width] : {std::pair{"_w3d4", .75}, std::pair{"_wd2", .5}, std::pair{"_wd4", .25}}) {
      add_residual(all, stem + "18" + suffix, {depths.at("18"), width, false, pre});
    }
    add_residual(all, stem + "bc14b", {depths.at("10"), 1, true, pre});
    add_residual(all, stem + "bc26b", {depths.at("18"), 1, true, pre});
  }
  for (const int groups : {16, 32}) {
    const std::string suffix = "_" + std::to_string(groups) + "x4d";
    add_residual(all, "resnext14" + suffix, {depths.at("10"), 1, true, false, false, groups, 4});
    add_residual(all, "resnext26" + suffix, {depths.at("18"), 1, true, false, false, groups, 4});
  }
}

Builders make_builders() {
  Builders all;
  add_residuals(all);
  const Stages plain = {{64}, {128, 128}, {256, 256}, {512, 512, 512, 512, 512, 512}, {1024, 1024}};
  const Stages fast = {{64}, {128, 128}, {256, 256}, {512, 512, 512, 512, 512, 1024}};
  for (const auto& [suffix, width] :
       {std::pair{"_w1", 1.}, std::pair{"_w3d4", .75}, std::pair{"_wd2", .5}, std::pair{"_wd4", .25}}) {
    const double w = width;
    all[std::string("mobilenet") + suffix] = [=] { return mobilenet(plain, w, false, true); };
    all[std::string("mobilenetb") + suffix] = [=] { return mobilenet(plain, w, false, false); };
    all[std::string("fdmobilenet") + suffix] = [=] { return mobilenet(fast, w, true, true); };
    all[std::string("mobilenetv2") + suffix] = [=] { return mobilenet_v2(w, true); };
    all[std::string("mobilenetv2b") + suffix] = [=] { return mobilenet_v2(w, false); };
  }
  all["densenet121"] = [] { return densenet({6, 12, 24, 16}); };
  all["densenet169"] = [] { return densenet({6, 12, 32, 32}); };
  const Stages v10 = {{128, 128, 256}, {256, 384, 384, 512}, {512}}, joins10 = {{0, 1, 0}, {1, 0, 1, 0}, {1}};
  const Stages v11 = {{128, 128}, {256, 256}, {384, 384, 512, 512}}, joins11 = {{0, 1}, {0, 1}, {0, 1, 0, 1}};
  all["squeezenet_v1_0"] = [=] { return squeezenet(v10, {}, true); };
  all["squeezenet_v1_1"] = [=] { return squeezenet(v11, {}, false); };
  all["squeezeresnet_v1_0"] = [=] { return squeezenet(v10, joins10, true); };
  all["squeezeresnet_v1_1"] = [=] { return squeezenet(v11, joins11, false); };
  return all;
}

const Builders& builders() {
  static const Builders all = make_builders();
  return all;
}

}  // namespace

std::vector<std::string> published_cnn_names() {
  std::vector<std::string> names;
  for (const auto& [name, build] : builders()) names.push_back(name);
  return names;
}

Network published_cnn(std::string_view name) {
  const auto found = builders().find(name);
  if (found == builders().end()) {
    throw InputError("there is no published network '" + excerpt(name) +
                     "'; there are: " + joined(published_cnn_names()));
  }
  return found->second();
}

}  // namespace tenshot::experiments
