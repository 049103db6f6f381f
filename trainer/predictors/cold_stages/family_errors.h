#pragma once

#include <vector>

namespace tenshot::trainer::cold_stages {

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

}  // namespace tenshot::trainer::cold_stages
