#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "nasbench/graph/onnx_reader.h"
#include "nasbench/spaces/networks.h"

namespace tenshot::datasets {

/// Makes networks known by name (nasbench::networks()) and returns their identities, by name in a folder, else in the
/// file's order. `path` is
///   a folder of `*.onnx`, whose networks are called as their files without the suffix, or one such file;
///   a `networks.json` (nasbench::networks_json);
///   a CSV with a row for each operator, in order: `network,index,operation,input_size,input_channels,output_size,
///   stride,kernel,filters,groups`; other columns are ignored, an empty field does not apply (parse_operator_table,
///   with_padding).
/// Throws FileError, InputError and FormatError that name the file and the place in it.
std::vector<nasbench::Architecture> read_networks(const std::filesystem::path& path,
                                                  const nasbench::OnnxReadOptions& options = {});

/// The architecture, the network's name or the file *.onnx that `text` is, in a space. Throws InputError where it is
/// none, or an ONNX file in a space of architectures; FileError and FormatError as reading the file does.
nasbench::Architecture architecture_or_file(const std::string& text, const nasbench::SearchSpace& space,
                                            const nasbench::OnnxReadOptions& options = {});

/// The networks of such a CSV. `operation` is conv_2d, conv_2d_group, depthwise_conv_2d (`filters` is then what
/// multiplies the channels), fully_connected, max_pool_2d, average_pool_2d, mean (over all positions), concatenation
/// (`kernel` is the number of inputs), add, multiply, pad or an activation such as relu; anything else is an operator of
/// which nothing but its shapes is known. Sizes are heights and widths; convolutions and fully connected layers count
/// with a bias. Rows of a network have indices that grow. Throws InputError that names the line and the column.
std::vector<nasbench::NamedNetwork> parse_operator_table(std::string_view text, const std::string& file);

}  // namespace tenshot::datasets
