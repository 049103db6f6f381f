#pragma once

#include <string>
#include <vector>

#include "datasets/pool/pool.h"
#include "nasbench/graph/onnx_reader.h"
#include "trainer/cli/command.h"

namespace tenshot::cli {

/// --networks and --shape; `use` says what the networks are for ("to predict").
void add_network_options(OptionParser& options, const std::string& use);

/// --shape alone, where ONNX files are named otherwise.
void add_shape_option(OptionParser& options);

/// What --networks names, known from then on; empty where it is not given.
std::vector<nasbench::Architecture> networks_of(const OptionParser& options);

/// The shapes that --shape gives to the inputs of ONNX files.
nasbench::OnnxReadOptions onnx_options(const OptionParser& options);

/// The architecture, the network's name or the file *.onnx that `text` is, in a space. Throws InputError, FileError,
/// FormatError.
nasbench::Architecture architecture_or_file(const std::string& text, const nasbench::SearchSpace& space,
                                            const nasbench::OnnxReadOptions& options);

/// The usable architectures of a file; what is left out is reported. Throws InputError when nothing is usable.
std::vector<nasbench::Architecture> usable_architectures(const std::string& file, const nasbench::SearchSpace& space,
                                                         bool quiet);

/// Measurements of a CSV, a device-runtime's folder, or a kit with results.
struct MeasuredFile {
  std::vector<nasbench::Architecture> architectures;
  std::vector<double> latency_ms;
  bool whole_milliseconds = false;
  datasets::HardwareDescriptor descriptor;  ///< "none" for a CSV
  std::size_t left_out = 0;                 ///< entries, and what is doubtful about a kit
};

/// Throws InputError when the header of a CSV has one of the columns `others`, which only another kind of file has;
/// `what` says it: "measurements, but predictions". Folders and standard input pass.
void require_no_swap(const std::string& path, const std::vector<std::string>& others, const std::string& what);

/// Reads them and reports what is left out. Throws InputError when they are of another space or quantity, or none is
/// usable.
MeasuredFile read_measured(const std::string& path, const nasbench::SearchSpace& space, datasets::Quantity quantity,
                           bool quiet);

/// "latencies are whole milliseconds".
std::string whole_numbers(datasets::Quantity quantity);

/// Throws InputError where a hardware descriptor is given for another quantity: it says what operators take, in ms.
void require_latency_descriptor(datasets::Quantity quantity);

}  // namespace tenshot::cli
