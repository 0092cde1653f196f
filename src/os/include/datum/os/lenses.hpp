// Structured text as the tree that a lens of Augeas makes of it: looking for values in it, and the
// text with another one. Knows no file: text goes in and comes out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datum/base/error.hpp"

namespace datum::os {

// A tree takes a hundred times the room of its text.
inline constexpr std::size_t kMaxLensText = std::size_t{1} << 20U;
// Lenses that call themselves go as deep into their stack as the text is nested; 50,000 levels end
// the process.
inline constexpr std::size_t kMaxLensNesting = 1000;
// More nodes than anybody means by one value.
inline constexpr std::size_t kMaxLensNodes = 1000;

struct LensPlace {
  std::string lens;  // "Json.lns"
  std::string path;  // a path expression of Augeas, relative to the text's tree
};
// Of the nodes that the path names, in the order of the tree; a node may have none.
using LensValues = std::vector<std::optional<std::string>>;

// Errors of both: `unavailable` where there is no Augeas, with what to install; `not_found` for a
// lens that is not there; `invalid_argument` for a path that is none, or that leads out of the
// tree; `unsupported` for a text that the lens does not read, with the line; `limit_exceeded`. None
// holds anything of the text. Blocks; any thread, one call at a time.
class Lenses {
 public:
  virtual ~Lenses() = default;

  [[nodiscard]] virtual Result<LensValues> find(const LensPlace& place, std::string_view text) = 0;
  // The text in which each of the nodes has this value; without one the nodes are gone, and all
  // below them. A missing node is made. `refused` where the lens cannot write that.
  [[nodiscard]] virtual Result<std::string> edit(const LensPlace& place, std::string_view text,
                                                 std::optional<std::string_view> value) = 0;
};

}  // namespace datum::os
