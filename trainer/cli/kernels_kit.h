#pragma once

#include <string>

#include "descriptor/fusion/fusion_detection.h"
#include "trainer/cli/command.h"
#include "trainer/cli/outcome.h"

namespace tenshot::cli {

/// `plan --kit FOLDER --fusion`: a kit of test cases of fusion.
void write_fusion_kit(const OptionParser& options, Outcome& outcome);

/// What a board measured of such a kit.
struct MeasuredCases {
  std::string device;  ///< the board's backend and settings
  descriptor::CaseImage image;
  int rounds = 0;  ///< that its runs make
  descriptor::TimeCase time_case;
};

/// Throws InputError where the folder is no kit of test cases, or its cases were run too few times; FileError and
/// FormatError as datasets::read_kit_results does.
MeasuredCases measured_cases(const std::string& folder, bool quiet);

}  // namespace tenshot::cli
