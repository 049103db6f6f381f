#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "nasbench/graph/network_reading.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/error.h"

namespace tenshot::datasets {

/// A network's file that could not be used, and why.
struct LeftOutFile {
  std::string file;
  std::string reason;  ///< names the file
};

/// Makes networks known by name (nasbench::networks()) and returns their identities, by name in a folder, else in the
/// file's order. `path` is
///   a folder of network files (nasbench::network_formats()), whose networks are called as their files without the
///   suffix, or one such file; of a network that lies there in several formats, the first of them is read;
///   a `networks.json` (nasbench::networks_json);
///   a CSV with a row for each operator, in order: `network,index,operation,input_size,input_channels,output_size,
///   stride,kernel,filters,groups`; other columns are ignored, an empty field does not apply (parse_operator_table,
///   with_padding).
/// The shapes of `options` are for the networks of a folder that have those inputs. With `left_out`, a file of a folder
/// that cannot be read is added to it and does not stop the others; the last one does. Throws FileError, InputError and
/// FormatError that name the file and the place in it; InputError as require_shapes_used, unless the shapes are for
/// several sources of networks, which their caller asks.
std::vector<nasbench::Architecture> read_networks(const std::filesystem::path& path,
                                                  const nasbench::NetworkReadOptions& options = {},
                                                  std::vector<LeftOutFile>* left_out = nullptr);

/// Throws InputError where a shape is for an input that none of the networks has that were read with `options`, where
/// it is for several.
void require_shapes_used(const nasbench::NetworkReadOptions& options);

/// The error where all of several networks are left out, at least one: it has the first one's reason.
InputError none_left(const std::vector<LeftOutFile>& left_out);

/// The architecture, the network's name or the network's file that `text` is, in a space. Throws InputError where it is
/// none, or a file in a space of architectures; FileError and FormatError as reading the file does.
nasbench::Architecture architecture_or_file(const std::string& text, const nasbench::NetworkSpace& space,
                                            const nasbench::NetworkReadOptions& options = {});

/// As architecture_or_file, of several texts. The shapes are for the networks that have those inputs. With `left_out`,
/// a file that cannot be read is added to it and does not stop the others, unless none is left.
std::vector<nasbench::Architecture> architectures_or_files(const std::vector<std::string>& texts,
                                                           const nasbench::NetworkSpace& space,
                                                           const nasbench::NetworkReadOptions& options = {},
                                                           std::vector<LeftOutFile>* left_out = nullptr);

/// The networks of such a CSV. `operation` is conv_2d, conv_2d_group, depthwise_conv_2d (`filters` is then what
/// multiplies the channels), fully_connected, max_pool_2d, average_pool_2d, mean (over all positions), concatenation
/// (`kernel` is the number of inputs), add, multiply, pad or an activation such as relu; anything else is an operator
/// of which nothing but its shapes is known. Sizes are heights and widths; convolutions and fully connected layers
/// count with a bias. Rows of a network have indices that grow. Throws InputError that names the line and the column.
std::vector<nasbench::NamedNetwork> parse_operator_table(std::string_view text, const std::string& file);

/// The operators, with a `pad` before each convolution or pool whose input is of the size of no image before it but a
/// little larger than one: by no more than its window takes away again. A runtime writes such an image before it reads
/// it, and tables of operators do not list that (TensorFlow Lite's PAD in those of Li, Paolieri and Golubchik, EdgeSys
/// 2024). The first operator's input is taken as the network's.
std::vector<nasbench::OperatorSpecification> with_padding(std::vector<nasbench::OperatorSpecification> operators);

}  // namespace tenshot::datasets
