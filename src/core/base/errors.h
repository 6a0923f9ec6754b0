// What can go wrong, as types. The message is a sentence a user can act on: what was expected, what came, what to do.
//
// The glue turns each type into an R condition of the class named beside it.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace granary {

struct InputError : std::invalid_argument {  // granary_error_input
  using std::invalid_argument::invalid_argument;
};

struct NumericalError : std::runtime_error {  // granary_error_numeric
  using std::runtime_error::runtime_error;
};

struct Interrupted : std::exception {  // an R interrupt
  const char* what() const noexcept override { return "interrupted by the user"; }
};

// Joins its arguments as a stream would: message("row ", i, " is negative").
template <class... Parts>
std::string message(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

}  // namespace granary
