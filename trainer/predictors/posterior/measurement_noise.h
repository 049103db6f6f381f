#pragma once

#include <Eigen/Core>

#include "trainer/predictors/posterior/mixture_options.h"

namespace tenshot::trainer {

/// How noisy a hypothesis takes a device for.
struct NoiseLevel {
  double noise = 0;      ///< σ of log latency
  double slow_step = 0;  ///< how much larger log latency is at the device's slow speed; 0: it has one speed
};

/// Noise of log latency: Student-t with ν degrees of freedom (Gaussian for ν = 0) of a given variance about 0 or, in
/// the slow state, about its step; or, rarely, a gross error. It enters Gauss–Newton as the Gaussian that has its slope
/// at the present error (expectation–maximisation for scale mixtures; Lange, Little and Taylor, JASA 1989).
class MeasurementNoise {
 public:
  explicit MeasurementNoise(const MixtureOptions& options);

  struct View {
    double variance = 0;  ///< of the Gaussian in its place
    double density = 0;   ///< of the error itself
    double shift = 0;     ///< mean of that Gaussian
  };

  /// `slow_step` 0: there is no slow state.
  View at(double error, double variance, double slow_step) const;

 private:
  double shape(double squared) const;
  double precision_at(double squared) const { return nu_ > 0 ? (nu_ + 1) / (nu_ + squared) : 1; }

  double nu_, slow_share_, gross_share_, gross_precision_, gross_density_;
  double usual_density_ = 0;
};

/// The errors of n measurements of log latency while a solution is looked for, and the Gaussian in the place of each.
class MeasurementErrors {
 public:
  explicit MeasurementErrors(const MixtureOptions& options) : noise_(options) {}

  /// Begins with Gaussians of the noise's own variances, [n], about 0.
  void begin(const Eigen::VectorXd& own_variance, double slow_step);
  /// Gives Gaussians that are wider to what is far off from the start. `spread` is the standard deviation of log
  /// latency about the latencies that `first` is from.
  void distrust(const Eigen::VectorXd& first, double spread);
  /// Gives each error the Gaussian that the noise has there.
  void weigh();
  /// The log evidence where it is `gaussian` with the Gaussians in place: each is taken out, and the noise put in.
  double corrected(double gaussian) const;

  Eigen::VectorXd error;     ///< [n]: measured − expected log latency
  Eigen::VectorXd variance;  ///< [n]: of the Gaussians
  Eigen::VectorXd shift;     ///< [n]: their means

 private:
  MeasurementNoise noise_;
  Eigen::VectorXd own_variance_;
  double slow_step_ = 0;
};

}  // namespace tenshot::trainer
