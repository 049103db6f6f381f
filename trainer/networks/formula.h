#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "nasbench/spaces/architecture.h"

namespace tenshot::trainer {

/// What an exported predictor computes of encodings: operations on matrices, one after the other. TorchScript
/// and ONNX (trainer/networks/exporting.h) are two ways to write it down.
struct Formula {
  struct Constant {
    std::string name;
    std::int64_t rows = 0, columns = 0;  ///< no rows: of one dimension
    std::vector<double> values;          ///< rows, one after the other
    bool whole = false;                  ///< integers of 64 bits
  };
  struct Step {
    std::string operation;  ///< by its name in ONNX
    std::vector<std::string> operands;
    std::string result;
  };
  std::int64_t width = 0;  ///< of the encoding, whose name is "encoding"
  bool doubles = true;     ///< computes in 64 bits, else in 32
  std::vector<Constant> constants;
  std::vector<Step> steps;
};

/// A matrix of a formula that is being written: [networks, columns], or a constant, which has one row for all networks
/// where it is no factor of dot(). The formula must outlive it.
class FormulaValue {
 public:
  FormulaValue(Formula& formula, std::string name, Eigen::Index columns)
      : formula_(&formula), name_(std::move(name)), columns_(columns) {}
  const std::string& name() const { return name_; }
  Eigen::Index columns() const { return columns_; }
  Formula& formula() const { return *formula_; }

  /// A constant of that value in the same formula.
  FormulaValue number(double value) const;
  FormulaValue columns(Eigen::Index begin, Eigen::Index count) const;
  FormulaValue columns(const std::vector<std::int64_t>& which) const;

 private:
  Formula* formula_;
  std::string name_;
  Eigen::Index columns_;
};

FormulaValue encoding_of(Formula& formula);
FormulaValue constant(Formula& formula, const Eigen::MatrixXd& values);
/// A constant of one dimension, of numbers or, where they are `whole`, of indices.
FormulaValue list(Formula& formula, std::vector<double> values, bool whole, const std::string& name = "");
/// An operation by its name in ONNX; `columns` are the result's, by default as many as the operands have at most.
FormulaValue apply(const std::string& operation, const std::vector<FormulaValue>& operands, Eigen::Index columns = 0);
FormulaValue joined(const std::vector<FormulaValue>& parts);
/// All products of a column of one with a column of the other, whose columns are the faster ones.
FormulaValue outer(const FormulaValue& a, const FormulaValue& b);
FormulaValue dot(const FormulaValue& a, const Eigen::MatrixXd& matrix);
inline FormulaValue sum(const FormulaValue& a) { return dot(a, Eigen::VectorXd::Ones(a.columns())); }
inline FormulaValue operator+(const FormulaValue& a, const FormulaValue& b) { return apply("Add", {a, b}); }
inline FormulaValue operator-(const FormulaValue& a, const FormulaValue& b) { return apply("Sub", {a, b}); }
inline FormulaValue operator*(const FormulaValue& a, const FormulaValue& b) { return apply("Mul", {a, b}); }
inline FormulaValue operator/(const FormulaValue& a, const FormulaValue& b) { return apply("Div", {a, b}); }
inline FormulaValue operator+(const FormulaValue& a, double b) { return a + a.number(b); }
inline FormulaValue operator*(const FormulaValue& a, double b) { return a * a.number(b); }
inline FormulaValue max(const FormulaValue& a, const FormulaValue& b) { return apply("Max", {a, b}); }
inline FormulaValue max(const FormulaValue& a, double b) { return max(a, a.number(b)); }
inline FormulaValue exp(const FormulaValue& a) { return apply("Exp", {a}); }
inline FormulaValue log(const FormulaValue& a) { return apply("Log", {a}); }
inline FormulaValue sqrt(const FormulaValue& a) { return apply("Sqrt", {a}); }

struct ExportedFormula {
  Formula formula;
  std::string latency;    ///< name of the value that is ms, [networks, 1]
  std::string deviation;  ///< of log latency, before calibration; empty: no intervals
  /// The deviations below which an error lies with that probability.
  std::function<double(double)> quantile;
  /// Networks by name that the file carries, and their encodings; none in a space whose options combine.
  std::vector<std::string> names;
  Eigen::MatrixXd encodings;
  /// What an encoding's columns are, and encodings of networks by name, [networks, columns], while the predictor lives.
  std::vector<std::string> columns;
  std::function<Eigen::MatrixXd(const std::vector<nasbench::Architecture>&)> encode;
  /// The export_methods() with a forward() in TorchScript of encodings that hold probabilities, where the formula is of
  /// ones and zeros; it uses the constants by their names. Empty: the formula takes both.
  std::string relaxed;
};

nlohmann::json values_of(const Eigen::VectorXd& vector);
nlohmann::json rows_of(const Eigen::MatrixXd& matrix);

/// TorchScript of methods that exported predictors have, by the names of the files in `methods`.
const std::string& export_methods(const std::string& name);

}  // namespace tenshot::trainer
