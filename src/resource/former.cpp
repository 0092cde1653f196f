// Which attributes are kept, and their bytes: a magic, then for each attribute the length of its
// name, the name, the length of its value, the value; lengths are 32 bits, little-endian.
#include "datum/resource/former.hpp"

#include <algorithm>

namespace datum::resource {

namespace {

constexpr std::string_view kFormerMagic("DATTR\x01\0\0", 8);
constexpr std::size_t kMaxAttributeName = 255;  // XATTR_NAME_MAX

void add_text(Bytes& bytes, ByteView text) {
  const auto at = bytes.size();
  bytes.resize(at + sizeof(std::uint32_t));
  store_le(bytes.data() + at, static_cast<std::uint32_t>(text.size()));
  bytes.insert(bytes.end(), text.begin(), text.end());
}

tl::unexpected<Error> corrupt() {
  return fail(ErrorCode::corrupt, "kept attributes are damaged");
}

Result<ByteView> take_text(ByteView& rest) {
  if (rest.size() < sizeof(std::uint32_t)) return corrupt();
  const auto size = load_le<std::uint32_t>(rest.data());
  rest = rest.subspan(sizeof size);
  if (size > rest.size()) return corrupt();
  const auto text = rest.first(size);
  rest = rest.subspan(size);
  return text;
}

}  // namespace

bool is_kept_attribute(std::string_view name) {
  if (name.starts_with("trusted.")) return !name.starts_with("trusted.overlay.");
  return name.starts_with("user.") || name.starts_with("system.posix_acl_") ||
         name.starts_with("security.SMACK64") || name == "security.selinux" ||
         name == "security.capability";
}

std::vector<os::Attribute> kept_attributes(std::vector<os::Attribute> attributes) {
  std::erase_if(attributes, [](const auto& one) { return !is_kept_attribute(one.name); });
  return attributes;
}

Bytes encode_attributes(const std::vector<os::Attribute>& attributes) {
  auto bytes = to_bytes(kFormerMagic);
  for (const auto& one : attributes) {
    add_text(bytes, as_bytes(one.name));
    add_text(bytes, one.value);
  }
  return bytes;
}

Result<std::vector<os::Attribute>> decode_attributes(ByteView bytes) {
  if (!as_text(bytes).starts_with(kFormerMagic)) return corrupt();
  auto rest = bytes.subspan(kFormerMagic.size());
  std::vector<os::Attribute> attributes;
  while (!rest.empty()) {
    DATUM_ASSIGN(const auto name, take_text(rest));
    DATUM_ASSIGN(const auto value, take_text(rest));
    const auto text = as_text(name);
    const bool follows = attributes.empty() || attributes.back().name < text;
    if (!follows || name.size() > kMaxAttributeName || !is_kept_attribute(text)) return corrupt();
    attributes.push_back({std::string(text), {value.begin(), value.end()}});
  }
  return attributes;
}

}  // namespace datum::resource
