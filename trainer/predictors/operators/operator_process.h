#pragma once

#include <Eigen/Core>

#include "nasbench/graph/operator_specification.h"

namespace tenshot::trainer::operators {

/// Operators as a process over their times sees them.
struct OperatorPoints {
  Eigen::MatrixXd shapes;  ///< [operators, coordinates]: group, function, window, stride, sizes and bytes
  /// Logarithms of what they take on devices that are known, [operators, devices], each column times the root of the
  /// device's weight; the weights sum to 1.
  Eigen::MatrixXd elsewhere;
};

/// The coordinates of an operator among OperatorPoints::shapes: those of tree_features(), sizes as logarithms, each in
/// units of its spread over operators of published networks.
Eigen::VectorXd shape_coordinates(const nasbench::OperatorSpecification& operation);

/// What operators take on a device where few of them were timed: a Gaussian process over the logarithm of time
/// (Rasmussen and Williams, 2006, Eq. 2.25). Its mean is linear in what operators take on other devices, and what is
/// left of it is alike for operators of like shapes (Matérn, ν = 3/2, Eq. 4.17). How large that rest is and how noisy a
/// time is follows from the evidence.
class OperatorProcess {
 public:
  /// `log_ms` has one time for each of `timed`, which has at least one.
  OperatorProcess(OperatorPoints timed, const Eigen::VectorXd& log_ms);
  /// The most probable log times, [operators].
  Eigen::VectorXd predict(const OperatorPoints& operators) const;

 private:
  Eigen::MatrixXd covariance(const OperatorPoints& a, const OperatorPoints& b, double rest) const;

  OperatorPoints timed_;
  double mean_ = 0;
  double rest_ = 0;  ///< standard deviation of what is beside the linear part
  Eigen::VectorXd weights_;
};

}  // namespace tenshot::trainer::operators
