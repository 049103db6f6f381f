#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "descriptor/cold/cold_files.h"

namespace tenshot::trainer {

/// The place of the kernel of that name among those of a layer. Throws InputError where it is none of them.
std::size_t kernel_called(const descriptor::ColdStages& stages, std::size_t layer, const std::string& name);

/// The kernels that the layers of a plan change to for the runs after the first (Yi et al., §3.5: K_warm − K_cold): for
/// each layer the fastest once warm, where the plan takes a slower one. They are in the order of what a millisecond of
/// preparing them saves in every run, the most first: runs do not wait for them. `may_cache`: transformed weights are
/// stored where reading them is faster than transforming.
std::vector<descriptor::PlannedSwitch> planned_switches(const descriptor::ColdStages& stages,
                                                        const descriptor::ColdPlan& plan, bool may_cache);

/// What a run takes after every switch, milliseconds: the layers' executions. Throws InputError where the plan has
/// other kernels than the stages.
double switched_ms(const descriptor::ColdStages& stages, const descriptor::ColdPlan& plan);

}  // namespace tenshot::trainer
