#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "datasets/collect/collect.h"
#include "datasets/kit/joined_sources.h"
#include "datasets/kit/measured_source.h"
#include "datasets/tables/network_sources.h"
#include "datasets/tables/quantity.h"
#include "nasbench/graph/network_reading.h"
#include "trainer/cli/command.h"
#include "trainer/cli/file_roles.h"
#include "trainer/core/shipped.h"
#include "trainer/predictors/verdict.h"

namespace tenshot::cli {

// Options that several verbs have.

/// The shapes that --shape gives to the inputs of network files, of several where more than one option names networks.
nasbench::NetworkReadOptions read_options(const OptionParser& options);

/// What --networks names, known from then on; empty where it is not given. Files that cannot be read are named on
/// stderr and left out. Throws InputError under --strict where there is one. Where `read` is given, in the place of
/// read_options(), it is for the caller to call datasets::require_shapes_used once all networks are read.
std::vector<nasbench::Architecture> networks_of(const OptionParser& options,
                                                std::optional<nasbench::NetworkReadOptions> read = std::nullopt);

/// The same of the arguments without names, which may be architectures of `space` or networks that --networks names
/// too; of --networks where there are none. Throws InputError where a shape is for none of them.
std::vector<nasbench::Architecture> networks_or_arguments(const OptionParser& options,
                                                          const nasbench::NetworkSpace& space);

/// Says on stderr which files were left out. Throws InputError under --strict where there is one.
void report_left_out(const OptionParser& options, const std::vector<datasets::LeftOutFile>& left_out);

/// Leaves out the networks by name that have a problem, as report_left_out says. Throws InputError where none is left.
void leave_out(const OptionParser& options, std::vector<nasbench::Architecture>& networks,
               const std::function<std::optional<std::string>(const nasbench::Architecture&)>& problem_of);

/// The usable architectures of a file; what is left out is reported. Throws InputError when nothing is usable.
std::vector<nasbench::Architecture> usable_architectures(const OptionParser& options, const std::string& file,
                                                         const nasbench::NetworkSpace& space);

/// What all of `paths`, as of --measurements, hold, joined by network (datasets/kit/joined_sources.h); reports what is
/// left out, what was measured more than once, and how far that agrees. Under --strict throws where anything is.
datasets::JoinedSources read_measurements(const OptionParser& options, const std::vector<std::string>& paths,
                                          const nasbench::NetworkSpace& space, datasets::Quantity quantity);

/// "latencies are whole milliseconds".
std::string whole_numbers(datasets::Quantity quantity);

/// Throws DoubtfulVerdict where --strict is given and the verdict is doubtful; what the verb found is printed before.
void refuse_doubtful(const OptionParser& options, const trainer::Verdict& verdict, const std::string& what);

/// What --measurements, --descriptor (a device file, or the folder it is in) and --runtime say of a device of which
/// `quantity` is measured. Throws FileError, FormatError; InputError on a device of another space than the model's, and
/// on a descriptor where the quantity is not latency: it says what operators take, in ms.
trainer::AdaptationSet adaptation_set(const OptionParser& options, const trainer::PoolModel& model,
                                      datasets::Quantity quantity);

/// Throws UsageError where an option of `adapt` that only some predictors have is none of the checkpoint's.
void require_options_of(const trainer::PoolModel& model, const OptionParser& options);

/// Says where a checkpoint cannot use all of a descriptor.
void remark_on_descriptor(const trainer::PoolModel& model, const datasets::HardwareDescriptor& descriptor);

/// What runs networks, and how, by --runtime, --threads, --batch, --seed (of the weights), --resolution and --isa; and
/// the space that --space names. Throws UsageError on a runtime that there is not or a number that is none, InputError
/// on a space that there is not. Starts this program again where the instruction set needs other environment variables.
std::pair<datasets::CollectOptions, const nasbench::NetworkSpace*> runtime_choice(const OptionParser& options);

/// --confidence, a share.
double confidence_option(const OptionParser& options);
/// Says that --confidence changes nothing, where it is given and the predictor has no intervals.
void tell_of_no_intervals(const OptionParser& options, const trainer::Predictor& predictor);

/// --limit, in the quantity's unit; nothing where it is not given.
std::optional<double> limit_option(const OptionParser& options);

/// What --quantity names; nothing where it is not given. Throws UsageError.
std::optional<datasets::Quantity> quantity_option(const OptionParser& options);

/// What that option names (trainer::checkpoint_named). Says so where a shipped one comes before what has its name.
std::string checkpoint_option(const OptionParser& options, const std::string& name = "checkpoint");

/// What --checkpoint names, or without it the shipped checkpoint that fits what is given, which is said: that of
/// networks by name where --networks is given, or --archs, --measurements, --descriptor or arguments name networks;
/// else that of cells. Throws FileError where none is shipped.
std::string checkpoint_of(const OptionParser& options);

}  // namespace tenshot::cli
