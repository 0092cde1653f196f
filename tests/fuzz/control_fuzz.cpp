// What callers of the control plane's socket may send, and what nodes may send as records.
#include <cstddef>
#include <cstdint>

#include "datum/base/assert.hpp"
#include "datum/control/local_request.hpp"
#include "datum/link/token.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace datum;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto request = control::parse_request(text)) {
    const auto again = control::parse_request(control::encode_request(*request));
    DATUM_ASSERT(again && *again == *request);
  }
  if (const auto profiles = control::parse_profiles(text)) {
    const auto again = control::parse_profiles(control::encode_profiles(*profiles));
    DATUM_ASSERT(again && again->size() == profiles->size());
  }
  if (const auto token = link::parse_token(text))
    DATUM_ASSERT(link::parse_token(link::format_token(*token)) == *token);
  return 0;
}
