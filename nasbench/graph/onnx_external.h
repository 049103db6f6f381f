#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "nasbench/graph/network.h"

namespace tenshot::nasbench {

struct OnnxFile;

/// Reads the constants whose numbers the reader computes with and that read_onnx_file() passes over: those of few bytes
/// that lie beside the model, such as the shapes that a Reshape gives, and masks and indices, up to 64 MiB of them.
/// Those of files that are missing, cut short or outside the model's folder stay without data.
void read_kept_data(OnnxFile& file, const std::filesystem::path& model);

/// The files beside an ONNX model that hold its weights ("external data"), as paths relative to the model's folder,
/// each once, sorted. Throws as read_onnx_file, and FormatError on a path that leads, or is linked, out of that folder.
std::vector<std::filesystem::path> external_data_files(const std::filesystem::path& model);

/// What keeps a runtime from loading the weights beside an ONNX model, in one line that names the model and the file:
/// it is missing, or ends before a tensor does. Nothing where all are there. Throws as external_data_files.
std::optional<std::string> external_data_problem(const std::filesystem::path& model);

/// The bytes of an ONNX model whose inputs have the shapes of those of `inputs` that have their names, where the model
/// leaves dimensions open; the same bytes where it leaves none. Everything else stays, weights outside the file too.
/// Tools that measure take 1 for an open dimension, or ask for it each in its own way. Takes memory twice the model's
/// size. Throws FormatError that names `file` where the bytes are no ONNX model.
std::string with_fixed_inputs(const std::string& model, const std::vector<NetworkInput>& inputs,
                              const std::string& file);

}  // namespace tenshot::nasbench
