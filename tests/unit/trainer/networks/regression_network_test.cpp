#include "trainer/networks/regression_network.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "nasbench/support/error.h"
#include "nasbench/support/random.h"

namespace tenshot::trainer {
namespace {

struct Data {
  std::vector<float> inputs, targets, units;
  TrainingSet batch(int rows) const {
    const std::ptrdiff_t width = static_cast<std::ptrdiff_t>(inputs.size() / targets.size());
    return {static_cast<int>(width),
            {inputs.begin(), inputs.begin() + rows * width},
            {targets.begin(), targets.begin() + rows},
            {units.begin(), units.begin() + rows}};
  }
};

Data random_data(int rows, int width, std::uint64_t seed) {
  Rng rng(seed);
  Data data;
  for (int i = 0; i < rows * width; ++i) data.inputs.push_back(static_cast<float>(rng.normal()));
  for (int i = 0; i < rows; ++i) {
    data.targets.push_back(static_cast<float>(0.5 + rng.uniform()));
    data.units.push_back(std::max(0.7F, data.targets.back()));
  }
  return data;
}

/// The same network in LibTorch's own modules.
torch::nn::Sequential reference_network(const RegressionNetwork& network) {
  torch::nn::Sequential reference;
  const std::vector<DenseLayer> layers = network.layers();
  for (std::size_t l = 0; l < layers.size(); ++l) {
    torch::nn::Linear linear(layers[l].inputs, layers[l].outputs);
    torch::NoGradGuard no_grad;
    linear->weight.copy_(torch::tensor(layers[l].weight).view({layers[l].outputs, layers[l].inputs}));
    linear->bias.copy_(torch::tensor(layers[l].bias));
    reference->push_back(linear);
    if (l + 1 < layers.size()) reference->push_back(torch::nn::ReLU());
  }
  return reference;
}

torch::Tensor reference_loss(torch::nn::Sequential& reference, const Data& data, int rows, int width,
                             Loss loss = Loss::squared) {
  const auto inputs = torch::tensor(data.inputs).view({rows, width});
  const auto predicted = reference->forward(inputs).squeeze(1);
  const auto error = (predicted - torch::tensor(data.targets)) / torch::tensor(data.units);
  if (loss == Loss::smooth_l1) return torch::nn::functional::smooth_l1_loss(error, torch::zeros_like(error));
  return torch::mean(torch::pow(error, 2));
}

std::vector<float> flattened(const std::vector<torch::Tensor>& tensors) {
  std::vector<float> values;
  for (const torch::Tensor& tensor : tensors) {
    const torch::Tensor flat = tensor.detach().contiguous().view(-1);
    values.insert(values.end(), flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel());
  }
  return values;
}

class RegressionNetworkLoss : public ::testing::TestWithParam<Loss> {};

TEST_P(RegressionNetworkLoss, HasTheValueAndGradientOfAutograd) {
  constexpr int rows = 37, width = 11;
  const Data data = random_data(rows, width, 1);
  RegressionNetwork network(width, {19, 8}, 3, GetParam());
  torch::nn::Sequential reference = reference_network(network);
  const torch::Tensor loss = reference_loss(reference, data, rows, width, GetParam());
  loss.backward();
  std::vector<torch::Tensor> gradients;
  for (const torch::Tensor& parameter : reference->parameters()) gradients.push_back(parameter.grad());

  std::vector<float> gradient;
  EXPECT_NEAR(network.loss_and_gradient(data.batch(rows), gradient), loss.item<double>(), 1e-6);
  const std::vector<float> expected = flattened(gradients);
  ASSERT_EQ(gradient.size(), expected.size());
  for (std::size_t i = 0; i < gradient.size(); ++i) EXPECT_NEAR(gradient[i], expected[i], 1e-6) << i;
}

INSTANTIATE_TEST_SUITE_P(Each, RegressionNetworkLoss, ::testing::Values(Loss::squared, Loss::smooth_l1));

TEST(RegressionNetwork, StepsLikeLibTorchsAdam) {
  constexpr int rows = 16, width = 5;
  const Data data = random_data(rows, width, 2);
  RegressionNetwork network(width, {12}, 4);
  torch::nn::Sequential reference = reference_network(network);
  torch::optim::Adam adam(reference->parameters(), torch::optim::AdamOptions(0.01));
  for (int step = 0; step < 20; ++step) {
    adam.zero_grad();
    reference_loss(reference, data, rows, width).backward();
    adam.step();
    network.train_step(data.batch(rows), 0.01);
  }
  const std::vector<float> expected = flattened(reference->parameters());
  const std::vector<float> parameters = network.state().parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) EXPECT_NEAR(parameters[i], expected[i], 2e-4) << i;
}

TEST(RegressionNetwork, DecaysWeightsAsLibTorchsAdamWAndLeavesBiases) {
  constexpr int rows = 16, width = 5;
  const Data data = random_data(rows, width, 2);
  RegressionNetwork network(width, {12}, 4);
  torch::nn::Sequential reference = reference_network(network);
  std::vector<torch::Tensor> weights, biases;
  for (const torch::Tensor& parameter : reference->parameters()) {
    (parameter.dim() == 2 ? weights : biases).push_back(parameter);
  }
  torch::optim::AdamW decaying(weights, torch::optim::AdamWOptions(0.01).weight_decay(0.5));
  torch::optim::Adam plain(biases, torch::optim::AdamOptions(0.01));
  for (int step = 0; step < 20; ++step) {
    decaying.zero_grad();
    plain.zero_grad();
    reference_loss(reference, data, rows, width).backward();
    decaying.step();
    plain.step();
    network.train_step(data.batch(rows), 0.01, 0.5);
  }
  const std::vector<float> expected = flattened(reference->parameters());
  const std::vector<float> parameters = network.state().parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) EXPECT_NEAR(parameters[i], expected[i], 2e-3) << i;
}

TEST(RegressionNetwork, ContinuesFromItsStateAsIfNeverStopped) {
  const Data data = random_data(8, 4, 5);
  RegressionNetwork straight(4, {6}, 1), stopped(4, {6}, 1), resumed(4, {6}, 99);
  for (int step = 0; step < 10; ++step) straight.train_step(data.batch(8), 0.01);
  for (int step = 0; step < 4; ++step) stopped.train_step(data.batch(8), 0.01);
  resumed.restore(stopped.state());
  for (int step = 4; step < 10; ++step) resumed.train_step(data.batch(8), 0.01);
  EXPECT_EQ(straight.state().parameters, resumed.state().parameters);
}

TEST(RegressionNetwork, BetweenStepsOfOtherSizes_EvaluatesWhatItsLayersSay) {
  constexpr int rows = 40, width = 7;
  const Data data = random_data(rows, width, 5);
  RegressionNetwork network(width, {16, 12}, 2);
  for (const int of_batch : {32, 8, rows}) {
    network.train_step(data.batch(of_batch), 1e-2);
    const std::vector<float> found = network.evaluate(data.inputs);
    const std::vector<float> expected = evaluate_layers(network.layers(), data.inputs);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5) << i;
  }
}

TEST(RegressionNetwork, RefusesTheStateOfAnotherShape) {
  RegressionNetwork network(4, {6}, 1);
  EXPECT_THROW(network.restore(RegressionNetwork(4, {7}, 1).state()), FormatError);
}

TEST(FeedForward, FoldsConstantInputsIntoTheFirstBias) {
  Rng rng(3);
  RegressionNetwork network(7, {9, 5}, 8);
  const std::vector<float> constant = {0.3F, -1.2F, 2.0F};
  const auto folded = fold_constant_inputs(network.layers(), 4, constant);
  std::vector<float> variable, whole;
  for (int row = 0; row < 6; ++row) {
    for (int i = 0; i < 4; ++i) {
      variable.push_back(static_cast<float>(rng.normal()));
      whole.push_back(variable.back());
    }
    whole.insert(whole.end(), constant.begin(), constant.end());
  }
  const auto expected = evaluate_layers(network.layers(), whole), found = evaluate_layers(folded, variable);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-6);
}

TEST(FeedForward, EvaluatesMoreRowsThanOneBlockAsItDoesEachRow) {
  RegressionNetwork network(30, {16, 8}, 8);
  const FeedForward feed_forward{network.layers(), 3.0, 1e-6};
  const auto& space = nasbench::nasbench201();
  std::vector<nasbench::Architecture> architectures;
  for (std::uint64_t i = 0; i < 1500; ++i) architectures.push_back(space.at(i * 10));
  const auto all = evaluate(feed_forward, space, architectures);
  for (const std::size_t i : {0u, 511u, 512u, 1023u, 1499u}) {
    EXPECT_NEAR(evaluate(feed_forward, space, {architectures[i]})[0], all[i], 1e-6);
  }
}

TEST(FeedForward, IsTheExponentialWhereTheNetworkAnswersLogarithms) {
  const FeedForward logarithmic{{DenseLayer{30, 1, std::vector<float>(30, 0), {0.5F}}}, 4.0, 1e-6, true};
  const auto& space = nasbench::nasbench201();
  EXPECT_NEAR(evaluate(logarithmic, space, {space.at(7)})[0], 4 * std::exp(0.5), 1e-6);
}

TEST(FeedForward, NeverPredictsLessThanItsFloor) {
  const FeedForward negative{{DenseLayer{30, 1, std::vector<float>(30, 0), {-5.0F}}}, 1.0, 0.25};
  EXPECT_EQ(evaluate(negative, nasbench::nasbench201(), {nasbench::nasbench201().at(0)})[0], 0.25);
}

}  // namespace
}  // namespace tenshot::trainer
