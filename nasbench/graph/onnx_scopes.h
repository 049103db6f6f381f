#pragma once

#include <deque>
#include <string>
#include <unordered_map>

#include "nasbench/graph/onnx_values.h"

namespace tenshot::nasbench {

/// Tensors by name, those of a body above those of the graph around it. Needs ONNX's headers.
class OnnxScopes {
 public:
  OnnxScopes() : scopes_(1) {}

  /// A null pointer where nobody gives that name. Valid until the name is set again or its scope ends.
  const OnnxValue* find(const std::string& name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (const auto found = scope->values.find(name); found != scope->values.end()) return &found->second;
      if (scope->is_function) break;
    }
    return nullptr;
  }
  void set(const std::string& name, OnnxValue value) { scopes_.back().values[name] = std::move(value); }

  /// What the file says of a tensor of the innermost scope; a null pointer where it says nothing.
  const onnx::ValueInfoProto* declared(const std::string& name) const {
    const auto found = scopes_.back().declared.find(name);
    return found == scopes_.back().declared.end() ? nullptr : found->second;
  }
  void declare(const onnx::ValueInfoProto& value) { scopes_.back().declared.emplace(value.name(), &value); }

  /// A function sees no names from outside.
  void enter(bool is_function) {
    scopes_.emplace_back();
    scopes_.back().is_function = is_function;
  }
  void leave() { scopes_.pop_back(); }
  std::size_t depth() const { return scopes_.size(); }

 private:
  struct Scope {
    std::unordered_map<std::string, OnnxValue> values;
    std::unordered_map<std::string, const onnx::ValueInfoProto*> declared;
    bool is_function = false;
  };
  std::deque<Scope> scopes_;
};

}  // namespace tenshot::nasbench
