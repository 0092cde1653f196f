#include "datum/program/saved_plan.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "datum/codec/plan.hpp"
#include "datum/crypto/digest.hpp"

namespace datum::program {

namespace {

constexpr std::string_view kPlanHead = "datum plan 1";

// The resources whose observation an action of the plan rests on.
std::set<model::Reference> references_in(const core::Plan& plan) {
  std::set<model::Reference> references;
  for (const auto& action : plan.actions) references.insert(action.reference);
  return references;
}

// Line by line, with the number of the one that was taken last.
class PlanLines {
 public:
  PlanLines(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  [[nodiscard]] std::optional<std::string_view> next() {
    ++number_;
    if (rest_.empty()) return std::nullopt;
    const auto end = std::min(rest_.find('\n'), rest_.size());
    const auto line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return line;
  }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] tl::unexpected<Error> expected(const char* what, std::size_t later = 0) const {
    return fail(ErrorCode::corrupt, name_ + ":" + std::to_string(number_ + later) + ": expected " +
                                        what + "; make the plan again with `datum plan --out`");
  }

 private:
  std::string_view rest_;
  const std::string& name_;
  std::size_t number_ = 0;
};

// The rest of a line that begins with `word` and a space.
std::optional<std::string_view> rest_after(std::optional<std::string_view> line,
                                           std::string_view word) {
  if (!line || !line->starts_with(word) || line->size() <= word.size() ||
      (*line)[word.size()] != ' ')
    return std::nullopt;
  return line->substr(word.size() + 1);
}

int hex_digit(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

std::optional<std::string> text_of_hex(std::string_view hex) {
  if (hex.size() % 2 != 0) return std::nullopt;
  std::string text;
  for (std::size_t at = 0; at < hex.size(); at += 2) {
    const int high = hex_digit(hex[at]), low = hex_digit(hex[at + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    text.push_back(static_cast<char>(high * 16 + low));
  }
  return text;
}

// One `observed SHA256 REFERENCE` line.
bool read_observed(std::string_view line, SavedPlan& saved) {
  constexpr std::size_t kHex = 2 * Digest::kSize;
  const auto rest = rest_after(line, "observed");
  if (!rest || rest->size() < kHex + 2 || (*rest)[kHex] != ' ') return false;
  const auto digest = Digest::find_hex(rest->substr(0, kHex));
  const auto reference = model::find_reference(rest->substr(kHex + 1));
  if (!digest || !reference) return false;
  return saved.observed.emplace(*reference, *digest).second;
}

}  // namespace

std::string saved_plan_text(const std::string& root, const model::Manifest& manifest,
                            std::span<const core::Observation> observations,
                            const core::Plan& plan) {
  const auto references = references_in(plan);
  std::string text(kPlanHead);
  text += "\nroot " + to_hex(as_bytes(root));
  text += "\nmanifest " + manifest.digest.hex();
  text += "\nplan " + crypto::sha256(codec::encode_plan(plan)).hex() + "\n";
  for (const auto& observation : observations)
    if (references.contains(observation.reference))
      text += "observed " + observation.digest.hex() + " " + observation.reference.text() + "\n";
  return text + "end\n";
}

Result<SavedPlan> parse_saved_plan(std::string_view text, const std::string& name) {
  if (text.size() > kMaxSavedPlan)
    return fail(ErrorCode::limit_exceeded, name + ": larger than any plan (64 MiB)");
  PlanLines lines(text, name);
  SavedPlan saved;
  if (lines.next() != kPlanHead) return lines.expected("`datum plan 1`");
  const auto root = rest_after(lines.next(), "root");
  auto path = root ? text_of_hex(*root) : std::nullopt;
  if (!path) return lines.expected("`root` and a path in hexadecimal");
  saved.root = std::move(*path);
  for (const auto& [word, digest] :
       {std::pair<std::string_view, Digest*>{"manifest", &saved.manifest}, {"plan", &saved.plan}}) {
    const auto rest = rest_after(lines.next(), word);
    const auto value = rest ? Digest::find_hex(*rest) : std::nullopt;
    if (!value) return lines.expected("`manifest` or `plan` and a SHA-256");
    *digest = *value;
  }
  while (const auto line = lines.next()) {
    if (*line == "end") {
      if (!lines.at_end()) return lines.expected("nothing behind `end`", 1);
      return saved;
    }
    if (!read_observed(*line, saved))
      return lines.expected("`observed`, a SHA-256 and a reference");
  }
  return lines.expected("`end`: the file was cut short");
}

Status check_plan(const SavedPlan& saved, const std::string& root, const model::Manifest& manifest,
                  std::span<const core::Observation> observations, const core::Plan& plan) {
  if (saved.root != root)
    return fail(ErrorCode::conflict,
                "the saved plan is for the root " + saved.root + ", this is " + root);
  if (saved.manifest != manifest.digest)
    return fail(ErrorCode::conflict, "the saved plan is for another manifest; make the plan again");
  std::string moved;
  std::size_t count = 0;
  const auto references = references_in(plan);
  for (const auto& observation : observations) {
    const auto at = saved.observed.find(observation.reference);
    const bool now = references.contains(observation.reference);
    const bool same = at == saved.observed.end() ? !now : at->second == observation.digest;
    if (same) continue;
    // The first few are enough to know where to look.
    if (++count <= 5) moved += (moved.empty() ? "" : ", ") + observation.reference.text();
  }
  if (count > 5) moved += " and " + std::to_string(count - 5) + " more";
  if (count > 0)
    return fail(ErrorCode::conflict, "what the saved plan rests on has changed since: " + moved +
                                         "; make the plan again");
  if (crypto::sha256(codec::encode_plan(plan)) != saved.plan)
    return fail(ErrorCode::conflict,
                "the saved plan is not what would be done now (ownership, limits or the local "
                "observe list changed); make the plan again");
  return {};
}

}  // namespace datum::program
