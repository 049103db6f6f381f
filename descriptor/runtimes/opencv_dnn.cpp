#include "descriptor/runtimes/opencv_dnn.h"

#include <algorithm>
#include <map>
#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/dnn.hpp>
#include <optional>
#include <vector>

#include "nasbench/graph/onnx.h"
#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/random.h"
#include "nasbench/support/text.h"

namespace tenshot::descriptor {
namespace {

using nasbench::Network;

/// What OpenCV says on several lines, with its own file and line, as one: the part that names the node, if any.
std::string reason_of(const cv::Exception& error) {
  constexpr std::size_t longest = 300;
  std::string text = error.err.empty() ? std::string(error.what()) : error.err;
  const std::size_t node = text.find("Node [");
  if (node != std::string::npos) text = text.substr(node);
  text = text.substr(0, text.find(", but"));
  std::replace(text.begin(), text.end(), '\n', ' ');
  return excerpt(trimmed(text), longest);
}

class OpencvNetwork final : public PreparedNetwork {
 public:
  OpencvNetwork(const std::string& model, const Network& network, const RuntimeOptions& options)
      : threads_(options.threads) {
    net_ = cv::dnn::readNetFromONNX(model.data(), model.size());
    net_.setPreferableBackend(cv::dnn::DNN_BACKEND_OPENCV);
    net_.setPreferableTarget(cv::dnn::DNN_TARGET_CPU);
    for (std::size_t i = 0; i < network.inputs.size(); ++i) {
      names_.push_back(network.inputs[i].name);
      const nasbench::Shape& shape = network.inputs[i].type.shape;
      inputs_.emplace_back(std::vector<int>(shape.begin(), shape.end()), CV_32F);
      Rng rng(options.weight_seed, i);
      std::generate_n(inputs_.back().ptr<float>(), inputs_.back().total(),
                      [&] { return static_cast<float>(rng.normal()); });
    }
    for (const nasbench::NetworkNode& node : network.nodes) nodes_.emplace(node.name, nodes_.size());
    for (std::size_t i = 0; i < network.outputs.size(); ++i) {
      outputs_.push_back(nasbench::onnx_output_name + (i == 0 ? std::string() : std::to_string(i + 1)));
    }
    set(inputs_);
  }

  void run() override {
    use_threads();
    net_.forward(results_, outputs_);
  }

  /// Layers that another one has taken in take no time.
  std::vector<double> run_timed() override {
    run();
    std::vector<double> ticks, node_ms(nodes_.size());
    net_.getPerfProfile(ticks);
    for (std::size_t i = 0; i < ticks.size(); ++i) {  // the input is layer 0 and has no time
      if (const auto node = node_of(net_.getLayer(static_cast<int>(i) + 1)->name)) {
        node_ms[*node] += 1000 * ticks[i] / cv::getTickFrequency();
      }
    }
    return node_ms;
  }

  std::vector<float> infer(const std::vector<float>& input) override {
    std::size_t expected = 0;
    for (const cv::Mat& own : inputs_) expected += own.total();
    require_values(input, static_cast<std::int64_t>(expected));
    std::vector<cv::Mat> given;
    auto start = input.begin();
    for (const cv::Mat& own : inputs_) {
      given.push_back(own.clone());
      std::copy_n(start, own.total(), given.back().ptr<float>());
      start += static_cast<std::ptrdiff_t>(own.total());
    }
    set(given);
    run();
    std::vector<float> values;
    for (const cv::Mat& result : results_) {
      const cv::Mat whole = result.isContinuous() ? result : result.clone();
      values.insert(values.end(), whole.ptr<float>(), whole.ptr<float>() + whole.total());
    }
    set(inputs_);
    return values;
  }

 private:
  /// The node that a layer belongs to: its name, or what is before one of its underscores; none where OpenCV added it.
  std::optional<std::size_t> node_of(std::string layer) const {
    const std::string prefix = "onnx_node!";
    if (layer.rfind(prefix, 0) == 0) layer.erase(0, prefix.size());
    while (!layer.empty()) {
      if (const auto found = nodes_.find(layer); found != nodes_.end()) return found->second;
      const std::size_t end = layer.rfind('_');
      layer.resize(end == std::string::npos ? 0 : end);
    }
    return std::nullopt;
  }

  void set(const std::vector<cv::Mat>& inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i) net_.setInput(inputs[i], names_[i]);
  }

  /// OpenCV's thread count is global, and another network may have set its own since.
  void use_threads() const {
    if (cv::getNumThreads() != threads_) cv::setNumThreads(threads_);
  }

  int threads_;
  cv::dnn::Net net_;
  std::vector<cv::String> names_, outputs_;
  std::vector<cv::Mat> inputs_, results_;
  std::map<std::string, std::size_t> nodes_;  ///< by name
};

/// work(), with what OpenCV throws as an InputError.
template <class Work>
std::unique_ptr<PreparedNetwork> guarded(const Work& work) {
  cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);  // what went wrong is thrown too
  try {
    return work();
  } catch (const cv::Exception& error) {
    throw InputError("opencv-dnn cannot run the network: " + reason_of(error));
  }
}

class OpencvRuntime final : public Runtime {
 public:
  std::string_view name() const override { return opencv_runtime_name; }
  std::string version() const override {
    return "OpenCV " + cv::getVersionString() + " DNN, " + cv::getCPUFeaturesLine();
  }
  std::string_view precision() const override { return "fp32"; }
  double tolerance() const override { return 1e-3; }
  bool follows_instruction_set() const override { return false; }

  void require_supported(const Network& network, const RuntimeOptions& /*options*/) const override {
    require_images(network, name());
  }

  std::unique_ptr<PreparedNetwork> prepare(const Network& network, const RuntimeOptions& options) const override {
    require_supported(network, options);
    return guarded([&] {
      const std::string model = nasbench::onnx_model(network, {options.weight_seed, "network", true});
      auto prepared = std::make_unique<OpencvNetwork>(model, network, options);
      prepared->run();  // shapes that do not fit are found by the first run alone
      return prepared;
    });
  }
};

}  // namespace

bool has_opencv() { return true; }

std::unique_ptr<Runtime> make_opencv_runtime() { return std::make_unique<OpencvRuntime>(); }

std::unique_ptr<PreparedNetwork> prepare_opencv_onnx(const std::string& onnx, const Network& network,
                                                     const RuntimeOptions& options) {
  return guarded([&] { return std::make_unique<OpencvNetwork>(onnx, network, options); });
}

}  // namespace tenshot::descriptor
