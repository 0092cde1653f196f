#include "key_lines.hpp"

#include "datum/model/spelled_target.hpp"

namespace datum::resource {

namespace {

using Text = std::string_view;
constexpr Text kKeyBlank = " \t";
constexpr Text kLineWhite = " \t\r";

Text without_leading(Text text) {
  const auto at = text.find_first_not_of(kKeyBlank);
  return at == Text::npos ? Text() : text.substr(at);
}

Text trimmed(Text text) {
  text = without_leading(text);
  const auto last = text.find_last_not_of(kLineWhite);
  return last == Text::npos ? Text() : text.substr(0, last + 1);
}

struct Found {
  Text key;
  Text rest;  // behind it
};

// A type and its base64 at the beginning.
std::optional<Found> read_key(Text text, Text fingerprint) {
  const auto type = text.substr(0, text.find_first_of(kKeyBlank));
  const auto behind = without_leading(text.substr(type.size()));
  const auto base64 = behind.substr(0, behind.find_first_of(kLineWhite));
  if (type.empty() || base64.empty()) return std::nullopt;
  const auto key = model::find_public_key(std::string(type).append(" ").append(base64));
  if (!key || (!fingerprint.empty() && key->fingerprint != fingerprint)) return std::nullopt;
  const auto size = static_cast<std::size_t>(base64.data() + base64.size() - text.data());
  return Found{text.substr(0, size), text.substr(size)};
}

// Up to the first white space outside of quotes.
Text read_options(Text text) {
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == '"')
      ++i;
    else if (text[i] == '"')
      quoted = !quoted;
    else if (!quoted && kKeyBlank.find(text[i]) != Text::npos)
      return text.substr(0, i);
  }
  return text;
}

std::optional<KeyLine> read_line(Text line, Text fingerprint) {
  const auto text = without_leading(line);
  if (text.empty() || text.front() == '#') return std::nullopt;
  KeyLine found;
  auto key = read_key(text, fingerprint);
  if (!key) {
    found.options = read_options(text);
    key = read_key(without_leading(text.substr(found.options.size())), fingerprint);
  }
  if (!key) return std::nullopt;
  found.key = key->key;
  found.comment = trimmed(key->rest);
  return found;
}

std::string line_of(Text key, Text options, Text comment) {
  std::string line(options);
  if (!options.empty()) line.append(" ");
  line.append(key);
  if (!comment.empty()) line.append(" ").append(comment);
  return line;
}

}  // namespace

std::vector<KeyLine> find_key_lines(std::string_view text, std::string_view fingerprint) {
  std::vector<KeyLine> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    auto end = text.find('\n', begin);
    if (end == Text::npos) end = text.size();
    if (auto found = read_line(text.substr(begin, end - begin), fingerprint)) {
      found->begin = begin;
      found->size = end - begin;
      lines.push_back(*found);
    }
    begin = end + 1;
  }
  return lines;
}

std::string write_key(std::string_view text, const std::vector<KeyLine>& lines,
                      const WantedKey& wanted) {
  std::string out;
  std::size_t done = 0;
  for (const auto& line : lines) {
    const auto options = wanted.options.value_or(line.options);
    const auto comment = wanted.comment.value_or(line.comment);
    if (options == line.options && comment == line.comment) continue;
    out.append(text.substr(done, line.begin - done)).append(line_of(line.key, options, comment));
    done = line.begin + line.size;
  }
  out.append(text.substr(done));
  if (!lines.empty()) return out;
  if (!out.empty() && out.back() != '\n') out.push_back('\n');
  return out.append(line_of(wanted.key, wanted.options.value_or(""), wanted.comment.value_or("")))
      .append("\n");
}

std::string remove_key(std::string_view text, const std::vector<KeyLine>& lines) {
  std::string out;
  std::size_t done = 0;
  for (const auto& line : lines) {
    out.append(text.substr(done, line.begin - done));
    done = line.begin + line.size;
    if (done < text.size()) ++done;  // its line end
  }
  return out.append(text.substr(done));
}

}  // namespace datum::resource
