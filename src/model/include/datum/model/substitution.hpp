// The one grammar of `{{ … }}`: `{{ host }}`, `{{ labels.NAME }}`, `{{ secrets.NAME }}`, and `{{{{`
// for a literal `{{`. The fleet fills in labels and host; secrets stay in the manifest's text until
// the host fills them in. One pass, no expressions. Pure, any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "datum/base/error.hpp"

namespace datum::model {

enum class PieceKind : std::uint8_t { literal, label, host, secret };
struct Piece {
  PieceKind kind = PieceKind::literal;
  std::string text;        // the literal text (`{{{{` already undone), or the NAME
  std::size_t offset = 0;  // of its first byte in the text that was parsed
};

// A `{{` that begins none of the known forms.
struct SubstitutionFault {
  std::size_t offset = 0;  // of the `{{`
  std::string message;
};
using Pieces = std::vector<Piece>;
[[nodiscard]] std::variant<Pieces, SubstitutionFault> parse_substitutions(std::string_view text);
// Whether parsing could find anything: text without `{{` stands for itself.
[[nodiscard]] inline bool has_substitutions(std::string_view text) {
  return text.find("{{") != std::string_view::npos;
}

// Letters, digits and `. - _ /`, 1 to 256 bytes: the name of a label or a secret. No component of a
// secret's name may be empty, `.` or `..`, since a backend may look it up as a file.
[[nodiscard]] bool is_label_name(std::string_view name);
[[nodiscard]] bool is_secret_name(std::string_view name);

// Text in which secrets are still open, from pieces: literals are written so that parsing gives
// them back, whatever they hold. `invalid_argument` if a piece is a label or host, or if a literal
// that ends in an unpaired `{` stands before a secret (nothing could tell them apart).
[[nodiscard]] Result<std::string> join_with_secrets(const Pieces& pieces);

// The names of the secrets in a text, sorted, unique. A text that does not parse is `corrupt`.
[[nodiscard]] Result<std::vector<std::string>> secret_names(std::string_view text);
// Fills in every secret. The first failure of `lookup` is returned; labels or host in the text are
// `corrupt`, since the fleet has filled them in. What `lookup` yields is taken literally.
using SecretLookup = std::function<Result<std::string>(std::string_view name)>;
[[nodiscard]] Result<std::string> fill_secrets(std::string_view text, const SecretLookup& lookup);

}  // namespace datum::model
