// "datum documents 1\n", then for each origin three texts, each closed by a zero byte (which
// neither a reference nor a file's name can hold): reference, file, line.
#include "datum/codec/documents.hpp"

#include <array>
#include <charconv>

namespace datum::codec {

static constexpr std::string_view kHead = "datum documents 1\n";

// Every pass needs them: one buffer, appended to.
Bytes encode_documents(const model::Manifest& manifest) {
  constexpr std::size_t kUsualOrigin = 80;  // bytes
  Bytes out;
  out.reserve(kHead.size() + kUsualOrigin * manifest.resources.size());
  const auto put = [&out](std::string_view piece) {
    out.insert(out.end(), as_bytes(piece).begin(), as_bytes(piece).end());
  };
  const auto close = [&out] { out.push_back(std::byte{0}); };
  put(kHead);
  for (const auto& resource : manifest.resources)
    for (const auto& origin : resource->origins) {
      put(model::to_string(resource->reference.type));
      put("[");
      put(resource->reference.name);
      put("]");
      close();
      put(origin.file);
      close();
      std::array<char, 10> digits{};  // of 32 bits
      const auto end = std::to_chars(digits.begin(), digits.end(), origin.line).ptr;
      put({digits.data(), static_cast<std::size_t>(end - digits.data())});
      close();
    }
  return out.size() == kHead.size() ? Bytes{} : out;
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
