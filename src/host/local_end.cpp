#include "datum/host/local_end.hpp"

#include <cstdint>

#include "datum/text/json_members.hpp"
#include "datum/text/json_writer.hpp"

namespace datum::host {

std::string encode_end(int exit_code) {
  text::JsonWriter json;
  json.begin_object().member("exit", exit_code).end_object();
  return json.take();
}

Result<int> parse_end(std::string_view text) {
  const auto message = text::read_json(text);
  if (!message) return fail(ErrorCode::invalid_argument, message.error().message());
  text::JsonMembers members(*message);
  std::uint8_t code = 1;
  members.take("exit", code);
  DATUM_TRY(members.end());
  return int{code};
}

}  // namespace datum::host
