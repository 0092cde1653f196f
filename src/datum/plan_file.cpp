#include "plan_file.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "datum/codec/plan.hpp"
#include "datum/crypto/digest.hpp"
#include "durable_file.hpp"

namespace datum::program {

namespace {

constexpr std::string_view kFirstLine = "datum plan 1";
// A plan of 100,000 actions is about 10 MiB.
constexpr std::uintmax_t kMaxPlanFile = 64 * 1024 * 1024;

// The resources whose observation an action of the plan rests on.
std::set<model::Reference> references_in(const core::Plan& plan) {
  std::set<model::Reference> references;
  for (const auto& action : plan.actions) references.insert(action.reference);
  return references;
}

tl::unexpected<Error> bad_line(const std::string& path, std::size_t number, const char* expected) {
  return fail(ErrorCode::corrupt, path + ":" + std::to_string(number) + ": expected " + expected +
                                      "; make the plan again with `datum plan --out`");
}

// The rest of a line that begins with `word` and a space.
std::optional<std::string> after(const std::string& line, std::string_view word) {
  if (!line.starts_with(word) || line.size() <= word.size() || line[word.size()] != ' ')
    return std::nullopt;
  return line.substr(word.size() + 1);
}

std::optional<std::string> text_of_hex(std::string_view hex) {
  std::string text;
  if (hex.size() % 2 != 0) return std::nullopt;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const auto digits = std::string(hex.substr(i, 2));
    if (digits.find_first_not_of("0123456789abcdef") != std::string::npos) return std::nullopt;
    text.push_back(static_cast<char>(std::stoi(digits, nullptr, 16)));
  }
  return text;
}

// One `observed SHA256 REFERENCE` line.
bool read_observed(const std::string& line, SavedPlan& saved) {
  const auto rest = after(line, "observed");
  if (!rest || rest->size() < 66 || (*rest)[64] != ' ') return false;
  const auto digest = Digest::find_hex(rest->substr(0, 64));
  const auto reference = model::find_reference(rest->substr(65));
  if (!digest || !reference) return false;
  return saved.observed.emplace(*reference, *digest).second;
}

}  // namespace

Status write_plan_file(const std::string& path, const std::string& root,
                       const model::Manifest& manifest,
                       std::span<const core::Observation> observations, const core::Plan& plan) {
  const auto references = references_in(plan);
  std::string text(kFirstLine);
  text += "\nroot " + to_hex(as_bytes(root));
  text += "\nmanifest " + manifest.digest.hex();
  text += "\nplan " + crypto::sha256(codec::encode_plan(plan)).hex() + "\n";
  for (const auto& observation : observations)
    if (references.contains(observation.reference))
      text += "observed " + observation.digest.hex() + " " + observation.reference.text() + "\n";
  text += "end\n";
  DATUM_ASSIGN(auto file, DurableFile::create(path));
  DATUM_TRY(file.write(as_bytes(text)));
  return file.commit();
}

Result<SavedPlan> read_plan_file(const std::string& path) {
  std::error_code problem;
  const auto size = std::filesystem::file_size(path, problem);
  if (problem) return fail(error_from_errno(problem.value(), path));
  if (size > kMaxPlanFile)
    return fail(ErrorCode::limit_exceeded, path + ": larger than any plan (64 MiB)");
  std::ifstream file(path, std::ios::binary);
  std::string line;
  SavedPlan saved;
  std::size_t number = 1;
  if (!std::getline(file, line) || line != kFirstLine)
    return bad_line(path, number, "`datum plan 1`");
  ++number;
  if (!std::getline(file, line)) line.clear();
  auto root = after(line, "root");
  auto text = root ? text_of_hex(*root) : std::nullopt;
  if (!text) return bad_line(path, number, "`root` and a path in hexadecimal");
  saved.root = *text;
  for (const auto& [word, digest] :
       {std::pair<std::string_view, Digest*>{"manifest", &saved.manifest}, {"plan", &saved.plan}}) {
    ++number;
    if (!std::getline(file, line)) line.clear();
    const auto rest = after(line, word);
    const auto value = rest ? Digest::find_hex(*rest) : std::nullopt;
    if (!value) return bad_line(path, number, "`manifest` or `plan` and a SHA-256");
    *digest = *value;
  }
  while (std::getline(file, line)) {
    ++number;
    if (line == "end") {
      if (file.peek() != std::ifstream::traits_type::eof())
        return bad_line(path, number + 1, "nothing behind `end`");
      return saved;
    }
    if (!read_observed(line, saved))
      return bad_line(path, number, "`observed`, a SHA-256 and a reference");
  }
  return bad_line(path, number + 1, "`end`: the file was cut short");
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
