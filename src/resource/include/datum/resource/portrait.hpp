// What a document would have to say so that a thing is as it is: for `adopt --print`. Looks, and
// changes nothing. A portrait that is declared plans clean, but for what its note says.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "datum/resource/observer.hpp"

namespace datum::resource {

// Of one thing. `fields` stand in the order in which people read them, by the names that documents
// use; the content of a File is not among them.
struct Portrait {
  using Value = std::variant<bool, std::uint32_t, std::string, std::vector<std::string>>;

  model::ResourceType type = model::ResourceType::file;
  std::string name;  // of the target, as a person wrote it
  std::vector<std::pair<std::string, Value>> fields;
  std::optional<std::string> content;  // of a File that everybody may read
  std::vector<std::string> notes;      // one line each: what is not told, or will not plan clean
};

// More content than this is not taken: a fleet is text that people review.
inline constexpr std::size_t kMaxPortraitContent = std::size_t{16} * 1024 * 1024;

// An absolute path, whose type is that of what lies there, `Type[name]`, or a target that no name
// of a document can say, as `datum owned` spells it: mount:/srv. One portrait; of
// AuthorizedKey[user] one for each key. Errors say what was asked for and why there is no portrait
// of it: nothing is there (`not_found`), it is of no type that can be declared or has no provider
// here
// (`unsupported`), it cannot be read. Blocks.
[[nodiscard]] Result<std::vector<Portrait>> portray(const Machine& machine, std::string_view asked);

}  // namespace datum::resource
