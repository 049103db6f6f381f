#pragma once

#include <Eigen/Dense>

namespace tenshot::trainer {

/// min ‖A x − b‖² over x ≥ 0 (Lawson and Hanson, Solving Least Squares Problems, 1974, ch. 23); A is [n, k], k small.
Eigen::VectorXd non_negative_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);

/// The same by the normal equations' Cholesky factor where A is tall: much faster, with a ridge of 1e-10.
Eigen::VectorXd tall_non_negative_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);

/// min ‖A x − b‖² over 0 ≤ x ≤ largest, nearly: what would be larger is the largest, and the others are fitted anew.
Eigen::VectorXd bounded_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b,
                                      const Eigen::VectorXd& largest);

/// x ≥ 0 that minimises the squared relative error Σ ((a_i·x − y_i)/y_i)², for y > 0.
Eigen::VectorXd relative_non_negative_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& y);

}  // namespace tenshot::trainer
