#pragma once

#include "descriptor/cold/cold_plan.h"
#include "descriptor/cold/stages.h"
#include "trainer/cold/schedule.h"

namespace tenshot::trainer {

/// The schedule that a plan stands for. Throws InputError where the plan has other layers or kernels than the stages.
ColdSchedule schedule_of(const descriptor::ColdStages& stages, const ColdProblem& problem,
                         const descriptor::ColdPlan& plan);

/// What the kernels of a schedule cost once for the process, milliseconds.
double once_ms(const descriptor::ColdStages& stages, const ColdProblem& problem, const ColdSchedule& schedule);

}  // namespace tenshot::trainer
