// What can go wrong, as types. The message is a sentence a user can act on: what was expected, what came, what to do.
//
// The glue turns each type into an R condition of the class named beside it.
#pragma once

#include <iosfwd>
#include <memory>
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

// The text of a message, piece by piece, as a stream would write it.
class MessageText {
 public:
  MessageText();
  ~MessageText();
  MessageText(const MessageText&) = delete;
  MessageText& operator=(const MessageText&) = delete;
  MessageText& operator<<(const char* piece);
  MessageText& operator<<(const std::string& piece);
  MessageText& operator<<(char piece);
  MessageText& operator<<(bool piece);
  MessageText& operator<<(int piece);
  MessageText& operator<<(long piece);
  MessageText& operator<<(long long piece);
  MessageText& operator<<(unsigned piece);
  MessageText& operator<<(unsigned long piece);
  MessageText& operator<<(unsigned long long piece);
  MessageText& operator<<(double piece);
  std::string text() const;

 private:
  std::unique_ptr<std::ostringstream> out_;
};

// message("row ", i, " is negative")
template <class... Parts>
std::string message(const Parts&... parts) {
  MessageText out;
  (out << ... << parts);
  return out.text();
}

}  // namespace granary
