#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "datasets/collect/fresh_start.h"

namespace tenshot::datasets {

/// One start in a process of its own.
struct StartProcess {
  std::vector<std::string> command;       ///< what starts a network, without what it starts
  std::filesystem::path weights;          ///< descriptor/runtimes/weights_file.h
  std::string network;                    ///< an architecture or a file *.onnx
  bool empty = false;                     ///< the empty network instead (empty_network)
  std::filesystem::path output;           ///< passing: what the process says
  double time_limit_s = 0;                ///< of the process; 0: none
  std::function<bool()> go_on = nullptr;  ///< asked while it runs; false stops it
};

/// What the process said of its start. Throws Interrupted when `go_on` said so; Error when the process failed, took too
/// long, or said something else.
FreshStart start_in_process(const StartProcess& process);

}  // namespace tenshot::datasets
