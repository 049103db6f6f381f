#pragma once

#include <string>
#include <vector>

#include "trainer/cli/command.h"

namespace tenshot::cli {

extern const Command cold_command;

/// `tenshot cold run`.
void run_cold_plan(const std::vector<std::string>& arguments);
constexpr const char* cold_run_example = "  tenshot cold run plan.json --drop-page-cache --warm-runs 10\n";

/// `tenshot cold predict`.
void predict_cold_start(const std::vector<std::string>& arguments);
constexpr const char* cold_predict_example = "  tenshot cold predict model.onnx --stages folder --out predicted.json\n";

/// With two decimals.
std::string decimals(double value);

/// Throws InputError that says how to build the program with oneDNN.
[[noreturn]] void refuse_without_onednn();

}  // namespace tenshot::cli
