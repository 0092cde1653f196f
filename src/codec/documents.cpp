// "datum documents 1\n", then for each origin three texts, each closed by a zero byte (which
// neither a reference nor a file's name can hold): reference, file, line.
#include "datum/codec/documents.hpp"

#include <array>

namespace datum::codec {

static constexpr std::string_view kHead = "datum documents 1\n";

Bytes encode_documents(const model::Manifest& manifest) {
  std::string text;
  for (const auto& resource : manifest.resources)
    for (const auto& origin : resource->origins) {
      text += resource->reference.text();
      text += '\0';
      text += origin.file;
      text += '\0';
      text += std::to_string(origin.line);
      text += '\0';
    }
  if (text.empty()) return {};
  return to_bytes(std::string(kHead) + text);
}

Result<std::map<std::string, std::string>> decode_documents(ByteView bytes) {
  auto text = as_text(bytes);
  if (!text.starts_with(kHead)) return fail(ErrorCode::corrupt, "not a list of document lines");
  text.remove_prefix(kHead.size());
  std::map<std::string, std::string> documents;
  while (!text.empty()) {
    std::array<std::string_view, 3> parts;
    for (auto& part : parts) {
      const auto end = text.find('\0');
      if (end == std::string_view::npos)
        return fail(ErrorCode::corrupt, "the list of document lines is cut short");
      part = text.substr(0, end);
      text.remove_prefix(end + 1);
    }
    auto& places = documents[std::string(parts[0])];
    if (!places.empty()) places += ", ";
    places += std::string(parts[1]) + ":" + std::string(parts[2]);
  }
  return documents;
}

}  // namespace datum::codec
