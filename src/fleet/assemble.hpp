// From what the files hold to the documents of one fleet: who belongs to which layer, names made
// into numbers, and what is wrong among documents. Private to the module.
#pragma once

#include <string>
#include <vector>

#include "documents.hpp"

namespace datum::fleet {

// One file and what it holds, in order of the files.
struct FileRead {
  FileId file = kNone;
  Read read;
};

// Gives each body its layer, sorts and links everything, and checks names and sources. Faults are
// appended. `documents.files` and `documents.sources` are set.
void assemble(std::vector<FileRead> reads, Documents& documents, Faults& faults);

// How a file that cannot be used as content is reported, here and after substitution.
[[nodiscard]] std::string source_message(const std::string& written, const Error& error);
[[nodiscard]] std::string source_hint(const std::string& folder, const Error& error);

}  // namespace datum::fleet
