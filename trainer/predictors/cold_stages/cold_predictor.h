#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "descriptor/cold/cold_files.h"
#include "trainer/cold/planner.h"
#include "trainer/predictors/cold_stages/stage_models.h"

namespace tenshot::trainer::cold_stages {

/// "mobilenet" of "…/mobilenet_v2_w1.0_r224.onnx": the letters that a model's file name begins with, in lower case.
std::string family_of(const std::string& model);

/// How far predictions are off for a network of a family that was never measured.
struct FamilyError {
  double middle = 0;  ///< what to add to a predicted logarithm
  double spread = 0;  ///< nine of ten errors of the logarithm are to lie within this of the middle
};

/// From errors of logarithms (measured less predicted), one list for each family that was held out. A new family is one
/// more draw from those: the variance is what families' means vary by and what networks vary by within their families,
/// and Student's t with a degree of freedom less than there are families says how far nine of ten may be off. The
/// middle is the mean over families where, of each family left out, the mean of the others brings predictions nearer to
/// the truth; else it is zero. One family alone counts each of its networks as one. No errors: all zero.
FamilyError error_of_new_family(std::vector<std::vector<double>> errors);

/// A cold start that was predicted, milliseconds.
struct PredictedStart {
  double cold_ms = 0;
  double low_ms = 0, high_ms = 0;  ///< nine of ten starts are to lie between them; equal to cold_ms where unknown
  descriptor::ColdStages stages;   ///< for plan_cold_start; without the model's name and hash
  ColdPlanning planning;           ///< of these stages
  Learners learners = {};
  std::size_t held_out = 0;  ///< networks that were held out and predicted
  double factor = 1;         ///< of planned times; 1 where a factor does not carry over to families that are held out
};

/// The machine of measured stages. Throws InputError where there is no file, or where they are of unlike machines.
const std::string& machine_of(const std::vector<descriptor::ColdStages>& measured);

/// Predicts the cold start of a network that was never run, from the measured stages of others: the costs of each stage
/// of each kernel (StageModels), with which the start is planned and simulated (Yi et al., §3.3).
///
///     predict_cold_start(network, kernels_of_the_engine, stages_of_other_networks, {}).cold_ms;
///
/// Each stage is learned as sums of operators' measures or by a forest, whichever errs less on families of networks
/// that were held out. What plans of predicted stages took for these families, by their measured stages, against what
/// was predicted, gives a factor and the interval (error_of_new_family). Throws as machine_of() and
/// StageModels::predict do.
PredictedStart predict_cold_start(const descriptor::ColdNetwork& network, const OfferedKernels& offered,
                                  const std::vector<descriptor::ColdStages>& measured, const ColdPlanOptions& plan);

}  // namespace tenshot::trainer::cold_stages
