#include "core/base/fields.h"

namespace granary {

std::size_t place_of_word(const std::vector<const char*>& words, const std::string& name, const std::string& field) {
  std::string possible;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (name == words[i]) return i;
    possible += (possible.empty() ? "\"" : ", \"") + std::string(words[i]) + "\"";
  }
  throw InputError(message("`", field, "` must be one of ", possible, ", not \"", name, "\"."));
}

}  // namespace granary
