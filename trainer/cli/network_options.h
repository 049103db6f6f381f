#pragma once

#include <string>
#include <vector>

#include "datasets/kit/joined_sources.h"
#include "datasets/kit/measured_source.h"
#include "datasets/tables/network_sources.h"
#include "nasbench/graph/network_reading.h"
#include "trainer/cli/command.h"
#include "trainer/cli/file_roles.h"

namespace tenshot::cli {

/// --networks, --shape and --strict; `use` says what the networks are for ("to predict").
void add_network_options(OptionParser& options, const std::string& use);

/// --shape alone, where network files are named otherwise.
void add_shape_option(OptionParser& options);

/// What --networks names, known from then on; empty where it is not given. Files that cannot be read are named on
/// stderr and left out. Throws InputError under --strict where there is one.
std::vector<nasbench::Architecture> networks_of(const OptionParser& options);

/// The arguments without names, as architectures or the files of networks; those that cannot be read are named and left
/// out as above.
std::vector<nasbench::Architecture> arguments_of(const OptionParser& options, const nasbench::NetworkSpace& space);

/// As networks_of, of what another option names, with what else is said of its networks.
std::vector<nasbench::Architecture> networks_at(const OptionParser& options, const std::string& path,
                                                const nasbench::NetworkReadOptions& read);

/// Says on stderr which files were left out. Throws InputError under --strict where there is one.
void report_left_out(const OptionParser& options, const std::vector<datasets::LeftOutFile>& left_out);

/// What --networks names is read, where it is given.
void reads_networks(FileRoles& files, const OptionParser& options);

/// The shapes that --shape gives to the inputs of network files.
nasbench::NetworkReadOptions read_options(const OptionParser& options);

/// The usable architectures of a file; what is left out is reported. Throws InputError when nothing is usable.
std::vector<nasbench::Architecture> usable_architectures(const std::string& file, const nasbench::NetworkSpace& space,
                                                         bool quiet);

/// --measurements, which may be given several times, and --fleet. `meaning` begins with what they are for ("required,
/// or
/// --descriptor").
void add_measurements_option(OptionParser& options, const std::string& meaning);

/// What --measurements names is read, where it is given. Throws UsageError where --fleet is given without several.
void reads_measurements(FileRoles& files, const OptionParser& options);

/// What all of --measurements hold, joined by network (datasets/kit/joined_sources.h); reports what is left out, what
/// was measured more than once, and how far that agrees. Throws InputError under --strict where anything is left out.
datasets::JoinedSources read_measurements(const OptionParser& options, const nasbench::NetworkSpace& space,
                                          datasets::Quantity quantity);
datasets::JoinedSources read_measurements(const OptionParser& options, const std::vector<std::string>& paths,
                                          const nasbench::NetworkSpace& space, datasets::Quantity quantity);

/// "latencies are whole milliseconds".
std::string whole_numbers(datasets::Quantity quantity);

/// Throws InputError where a hardware descriptor is given for another quantity: it says what operators take, in ms.
void require_latency_descriptor(datasets::Quantity quantity);

}  // namespace tenshot::cli
