#pragma once

#include <string>
#include <string_view>

#include "datasets/pool/pool.h"

namespace tenshot::datasets {

/// Whether a text is what ncnn's benchncnn prints: it has a line "mobilenet  min = 2.93  max = 3.92  avg = 3.16".
bool is_benchncnn_output(std::string_view text);

/// The device-runtime `id` that benchncnn measured: the means of the networks that are known by name
/// (nasbench::networks()), which may have been given as files ("net.param"). Numbers may have decimal commas. Lines of
/// unknown or repeated networks, or without a mean, go to `findings`. Throws InputError where no line is usable.
DeviceRuntime parse_benchncnn(std::string_view text, const std::string& file, const std::string& id,
                              Findings& findings);

}  // namespace tenshot::datasets
