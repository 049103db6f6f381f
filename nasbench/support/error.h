#pragma once

#include <stdexcept>
#include <string>

namespace tenshot {

/// Root of everything tenshot throws on purpose. `what()` is one line that names the object (file, line, column),
/// the value found, what was expected and, where there is one, what the user can do.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller's data is unusable: a bad architecture string, an empty table, measurements that are all missing.
class InputError : public Error {
 public:
  using Error::Error;
};

/// A file cannot be opened, read or written.
class FileError : public Error {
 public:
  using Error::Error;
};

/// A file was read but is not what it claims to be: damaged, cut short, of a newer version, or foreign.
class FormatError : public Error {
 public:
  using Error::Error;
};

/// The work was stopped on request (a signal); what was finished is saved and the same call resumes it.
class Interrupted : public Error {
 public:
  using Error::Error;
};

}  // namespace tenshot
