#include "adopted_document.hpp"

#include <algorithm>

#include "datum/text/terminal.hpp"
#include "datum/yaml/scalar.hpp"

namespace datum::program {

namespace {

// A screenful: more is easier to review as a file.
constexpr std::size_t kMaxInline = 4096;

// What a document would take for a substitution.
std::string unsubstituted(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool opens = text.substr(i, 2) == "{{";
    result += opens ? "{{{{" : std::string(1, text[i]);
    if (opens) ++i;
  }
  return result;
}

std::string quoted_plainly(std::string_view text) {
  return yaml::quoted(unsubstituted(text));
}

// Whether it can stand in a document character by character: what a person can see, and line ends.
bool is_text(std::string_view bytes) {
  for (std::size_t begin = 0; begin <= bytes.size();) {
    const auto end = std::min(bytes.find('\n', begin), bytes.size());
    auto line = std::string(bytes.substr(begin, end - begin));
    std::erase(line, '\t');
    if (!line.empty() && yaml::find_single_line_fault(line)) return false;
    begin = end + 1;
  }
  return true;
}

// As a literal block, where its first and last line let it; else on one line, with escapes.
std::string inline_content(const std::string& bytes) {
  const bool block = bytes.size() > 1 && bytes.back() == '\n' && bytes[bytes.size() - 2] != '\n' &&
                     bytes.front() != ' ' && bytes.front() != '\t' && bytes.front() != '\n';
  if (!block) return "  content: " + quoted_plainly(bytes) + "\n";
  std::string text = "  content: |\n";
  const auto written = unsubstituted(bytes);
  for (std::size_t begin = 0; begin < written.size();) {
    const auto end = written.find('\n', begin);
    if (end > begin) text += "    " + written.substr(begin, end - begin);
    text += "\n";
    begin = end + 1;
  }
  return text;
}

std::string value_text(const resource::Portrait::Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<std::uint32_t>(&value)) return std::to_string(*number);
  if (const auto* words = std::get_if<std::string>(&value)) {
    // A word that is nothing else in YAML stands as people write it.
    const bool plain = *words == "present" || *words == "running" || *words == "stopped";
    return plain ? *words : quoted_plainly(*words);
  }
  std::string list;
  for (const auto& word : std::get<std::vector<std::string>>(value))
    list += (list.empty() ? "" : ", ") + quoted_plainly(word);
  return "[" + list + "]";
}

}  // namespace

// "/etc/ssh/sshd_config" → "etc-ssh-sshd_config".
std::string AdoptedDocuments::make_name(const resource::Portrait& portrait) {
  std::string name;
  for (const char c : portrait.name) {
    const bool usable = model::is_document_name(std::string_view(&c, 1));
    if (usable || !name.empty()) name.push_back(usable ? c : '-');
  }
  constexpr std::size_t kRoomForNumber = 12;
  if (name.size() > model::kMaxName - kRoomForNumber) name.resize(model::kMaxName - kRoomForNumber);
  if (name.empty()) name = "root";
  const auto type = std::string(model::to_string(portrait.type));
  auto unique = name;
  for (int number = 2; !names_.insert(type + "[" + unique + "]").second; ++number)
    unique = name + "-" + std::to_string(number);
  return unique;
}

Result<std::string> AdoptedDocuments::content_line(const resource::Portrait& portrait,
                                                   const std::string& name) {
  const auto& bytes = *portrait.content;
  const bool text = is_text(bytes);
  if (!with_files_ && !text)
    return fail(
        ErrorCode::unsupported,
        portrait.name + ": its content is no text; --into DIR writes it beside the documents");
  if (text && (!with_files_ || bytes.size() <= kMaxInline)) return inline_content(bytes);
  contents_.push_back({std::string(kContentFolder) + "/" + name, bytes});
  return "  source: " + yaml::quoted(contents_.back().path) + "\n";
}

Status AdoptedDocuments::add(const resource::Portrait& portrait) {
  const auto name = make_name(portrait);
  std::string document = "datum: v1alpha1\ntype: " + std::string(model::to_string(portrait.type)) +
                         "\nname: " + yaml::quoted(name) + "\n";
  for (const auto& note : portrait.notes) document = "# " + text::escape(note) + "\n" + document;
  document += "desired:\n";
  // The document's name says it already where that is the target's.
  const auto key = portrait.type == model::ResourceType::service   ? "unit"
                   : portrait.type == model::ResourceType::package ? "package"
                   : portrait.type == model::ResourceType::user    ? "user"
                   : portrait.type == model::ResourceType::group   ? "group"
                   : portrait.type == model::ResourceType::sysctl  ? "key"
                   : portrait.type == model::ResourceType::timer   ? "timer"
                                                                   : "";
  if (*key != '\0' && name != portrait.name)
    document += std::string("  ") + key + ": " + quoted_plainly(portrait.name) + "\n";
  for (const auto& [field, value] : portrait.fields)
    document += std::string("  ") + field + ": " + value_text(value) + "\n";
  if (portrait.content) {
    DATUM_ASSIGN(const auto line, content_line(portrait, name));
    document += line;
  }
  text_ += (text_.empty() ? "" : "---\n") + document;
  return {};
}

}  // namespace datum::program
