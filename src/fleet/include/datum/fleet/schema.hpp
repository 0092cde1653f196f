// `datum schema`: a JSON Schema (draft-07) of the documents, for editors. Made from the descriptor
// table, so that it cannot say anything else than the reader does.
#pragma once

#include <string>

namespace datum::fleet {

// Indented, ends with a newline. What a schema cannot say (references, merging) is not in it.
[[nodiscard]] std::string document_schema();

}  // namespace datum::fleet
