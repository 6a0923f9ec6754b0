#include "core/base/errors.h"

#include <sstream>

namespace granary {

MessageText::MessageText() : out_(new std::ostringstream) {}
MessageText::~MessageText() = default;

MessageText& MessageText::operator<<(const char* piece) { return *out_ << piece, *this; }
MessageText& MessageText::operator<<(const std::string& piece) { return *out_ << piece, *this; }
MessageText& MessageText::operator<<(char piece) { return *out_ << piece, *this; }
MessageText& MessageText::operator<<(bool piece) { return *out_ << piece, *this; }
MessageText& MessageText::operator<<(int piece) { return *out_ << piece, *this; }
MessageText& MessageText::operator<<(long piece) { return *out_ << piece, *this; }
MessageText& MessageText::operator<<(long long piece) { return *out_ << piece, *this; }
MessageText& MessageText::operator<<(unsigned piece) { return *out_ << piece, *this; }
MessageText& MessageText::operator<<(unsigned long piece) { return *out_ << piece, *this; }
MessageText& MessageText::operator<<(unsigned long long piece) { return *out_ << piece, *this; }
MessageText& MessageText::operator<<(double piece) { return *out_ << piece, *this; }

std::string MessageText::text() const { return out_->str(); }

}  // namespace granary
