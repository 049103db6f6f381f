#pragma once

#include <optional>
#include <string>

#include "datasets/tables/quantity.h"
#include "trainer/cli/command.h"

namespace tenshot::cli {

/// --quantity; `default_meaning` says what happens without it ("what the checkpoint is of").
void add_quantity_option(OptionParser& options, const std::string& default_meaning);

/// What --quantity names; nothing where it is not given. Throws UsageError.
std::optional<datasets::Quantity> quantity_option(const OptionParser& options);

/// Throws InputError when --quantity asks for another quantity than the predictor's, which `file` holds.
void require_quantity(const OptionParser& options, const trainer::Predictor& predictor, const std::string& file);

}  // namespace tenshot::cli
