#include "datasets/operators/kernel_table.h"

#include <gtest/gtest.h>

#include <cmath>

#include "nasbench/support/error.h"

namespace tenshot::datasets {
namespace {

KernelRow convolution() {
  KernelRow row;
  row.kernel = "convolution++relu";
  row.leading.kind = nasbench::OperatorKind::convolution;
  row.leading.inputs = {{1, 8, 14, 14}, {1, 8, 14, 14}};
  row.leading.output = {1, 24, 7, 7};
  row.leading.kernel = {3, 3};
  row.leading.stride = {2, 2};
  row.leading.bias = true;
  row.purpose = "sample";
  row.latency_ms = 0.125;
  row.seconds = 0.5;
  return row;
}

TEST(KernelTable, ReadsBackWhatItWrote) {
  KernelRow refused = convolution();
  refused.refused = "no place, \"here\"";
  refused.latency_ms = std::nan("");
  const std::vector<KernelRow> rows = parse_kernel_table(kernel_table({convolution(), refused}), "kernels.csv");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].leading, convolution().leading);
  EXPECT_EQ(rows[0].latency_ms, 0.125);
  EXPECT_EQ(rows[0].purpose, "sample");
  EXPECT_TRUE(std::isnan(rows[1].latency_ms));
  EXPECT_EQ(rows[1].refused, "no place   here");

  KernelRow large = convolution();
  large.leading.kind = nasbench::OperatorKind::concatenate;
  large.leading.inputs.assign(70, {1, 151'936});
  large.leading.kernel = {1, 48'000};
  EXPECT_EQ(parse_kernel_table(kernel_table({large}), "kernels.csv")[0].leading, large.leading)
      << "what a network file may hold can be read back";
}

/// What the message says when `from` is replaced in a good table.
std::string message(const std::string& from, const std::string& to) {
  std::string text = kernel_table({convolution()});
  text.replace(text.find(from), from.size(), to);
  try {
    parse_kernel_table(text, "kernels.csv");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(KernelTable, NamesWhatIsWrong) {
  EXPECT_NE(message("0.125", "-1").find("kernels.csv:2: column 'latency_ms': '-1'"), std::string::npos);
  EXPECT_NE(message("0.125", "nan").find("latency_ms"), std::string::npos);
  EXPECT_NE(message("0.125", "").find("latency_ms"), std::string::npos);
  EXPECT_NE(message("1x24x7x7", "1x0x7x7").find("column 'output': '0'"), std::string::npos);
  EXPECT_NE(message("1x24x7x7", "131072x131072x131072").find("2^36 elements"), std::string::npos);
  EXPECT_NE(message("3x3", "3").find("expected height x width"), std::string::npos);
  EXPECT_NE(message("relu,convolution,", "relu,warp,").find("column 'operation'"), std::string::npos);
  EXPECT_NE(message("latency_ms", "latency").find("latency_ms"), std::string::npos);
}

}  // namespace
}  // namespace tenshot::datasets
