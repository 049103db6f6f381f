#pragma once

#include <exception>
#include <iostream>

namespace tenshot::experiments {

/// The main function of an experiment: what `run` throws is said after the program's name, and the exit status is 1.
inline int run_program(const char* name, void (*run)(int argc, char** argv), int argc, char** argv) {
  try {
    run(argc, argv);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << name << ": " << error.what() << "\n";
    return 1;
  }
}

}  // namespace tenshot::experiments
