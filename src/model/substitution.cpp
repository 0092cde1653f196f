// See the header. The only subtle part is writing text back: a literal `{{` doubles, and a single
// brace that touches a placeholder cannot be written at all.
#include "datum/model/substitution.hpp"

#include <algorithm>

namespace datum::model {
namespace {

constexpr std::size_t kMaxSubstitutionName = 256;  // as long as a document's name

bool is_label_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '-' || c == '_' || c == '/';
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// What stands between the braces, or what is wrong with it.
std::variant<Piece, SubstitutionFault> parse_inner(std::string_view inner, std::size_t offset) {
  constexpr std::string_view kLabels = "labels.";
  constexpr std::string_view kSecrets = "secrets.";
  const auto word = trim(inner);
  if (word == "host") return Piece{PieceKind::host, {}, offset};
  if (word.starts_with(kLabels)) {
    const auto name = word.substr(kLabels.size());
    if (is_label_name(name)) return Piece{PieceKind::label, std::string(name), offset};
    return SubstitutionFault{offset, "a label's name has letters, digits and . - _ / only"};
  }
  if (word.starts_with(kSecrets)) {
    const auto name = word.substr(kSecrets.size());
    if (is_secret_name(name)) return Piece{PieceKind::secret, std::string(name), offset};
    return SubstitutionFault{offset, "a secret's name has letters, digits and . - _ / only"};
  }
  return SubstitutionFault{
      offset, "{{ … }} takes host, labels.NAME or secrets.NAME; a literal {{ is written {{{{"};
}

void add_literal(Pieces& pieces, std::string_view text, std::size_t offset) {
  if (text.empty()) return;
  if (pieces.empty() || pieces.back().kind != PieceKind::literal)
    pieces.push_back({PieceKind::literal, {}, offset});
  pieces.back().text.append(text);
}

std::string escape(std::string_view literal) {
  std::string text;
  text.reserve(literal.size() + 8);
  for (std::size_t at = 0; at < literal.size();) {
    if (literal.substr(at, 2) == "{{") {
      text.append("{{{{");
      at += 2;
    } else {
      text.push_back(literal[at++]);
    }
  }
  return text;
}

}  // namespace

bool is_label_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxSubstitutionName &&
         std::all_of(name.begin(), name.end(), is_label_byte);
}

bool is_secret_name(std::string_view name) {
  if (!is_label_name(name)) return false;
  while (true) {
    const auto slash = name.find('/');
    const auto part = name.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (slash == std::string_view::npos) return true;
    name.remove_prefix(slash + 1);
  }
}

std::variant<Pieces, SubstitutionFault> parse_substitutions(std::string_view text) {
  Pieces pieces;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto open = text.find("{{", at);
    add_literal(pieces, text.substr(at, open == std::string_view::npos ? open : open - at), at);
    if (open == std::string_view::npos) break;
    if (text.substr(open + 2, 2) == "{{") {
      add_literal(pieces, "{{", open);
      at = open + 4;
      continue;
    }
    const auto close = text.find("}}", open + 2);
    const auto end_of_line = text.find('\n', open);
    if (close == std::string_view::npos || end_of_line < close)
      return SubstitutionFault{open,
                               "{{ is not closed by }} on its line; a literal {{ is written {{{{"};
    auto piece = parse_inner(text.substr(open + 2, close - open - 2), open);
    if (auto* fault = std::get_if<SubstitutionFault>(&piece)) return std::move(*fault);
    pieces.push_back(std::move(std::get<Piece>(piece)));
    at = close + 2;
  }
  return pieces;
}

Result<std::string> join_with_secrets(const Pieces& pieces) {
  std::string text;
  std::string literal;
  for (const auto& piece : pieces) {
    if (piece.kind == PieceKind::literal) {
      literal.append(piece.text);
      continue;
    }
    if (piece.kind != PieceKind::secret)
      return fail(ErrorCode::invalid_argument, "a label or host is still open");
    const auto last = literal.find_last_not_of('{');
    const auto braces = literal.size() - (last == std::string::npos ? 0 : last + 1);
    if (braces % 2 != 0)
      return fail(ErrorCode::invalid_argument,
                  "a { directly before {{ secrets." + piece.text + " }} cannot be told from it");
    text.append(escape(literal)).append("{{ secrets.").append(piece.text).append(" }}");
    literal.clear();
  }
  return text.append(escape(literal));
}

Result<std::vector<std::string>> secret_names(std::string_view text) {
  auto parsed = parse_substitutions(text);
  if (const auto* fault = std::get_if<SubstitutionFault>(&parsed))
    return fail(ErrorCode::corrupt, fault->message);
  std::vector<std::string> names;
  for (auto& piece : std::get<Pieces>(parsed))
    if (piece.kind == PieceKind::secret) names.push_back(std::move(piece.text));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Result<std::string> fill_secrets(std::string_view text, const SecretLookup& lookup) {
  const auto parsed = parse_substitutions(text);
  if (const auto* fault = std::get_if<SubstitutionFault>(&parsed))
    return fail(ErrorCode::corrupt, fault->message);
  std::string filled;
  for (const auto& piece : std::get<Pieces>(parsed)) {
    if (piece.kind == PieceKind::literal) {
      filled.append(piece.text);
      continue;
    }
    if (piece.kind != PieceKind::secret)
      return fail(ErrorCode::corrupt, "a label or host was left open by the fleet");
    DATUM_ASSIGN(const auto secret, lookup(piece.text));
    filled.append(secret);
  }
  return filled;
}

}  // namespace datum::model
