#include "datum/model/spelled_target.hpp"

#include <algorithm>
#include <array>

#include "datum/base/bytes.hpp"
#include "datum/crypto/digest.hpp"
#include "datum/model/descriptor.hpp"
#include "datum/model/reserved.hpp"

namespace datum::model {
namespace {

using Names = std::string_view;

constexpr Names kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::size_t kFingerprintSize = 7 + 43;  // "SHA256:", 32 bytes without filling

// RFC 4648, canonical: filled up, and no bit set that does not count.
std::optional<std::string> decode_base64(Names text) {
  if (text.empty() || text.size() % 4 != 0) return std::nullopt;
  const auto filling = text.ends_with("==") ? 2U : text.ends_with("=") ? 1U : 0U;
  std::string bytes;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : text.substr(0, text.size() - filling)) {
    const auto value = kAlphabet.find(c);
    if (value == Names::npos) return std::nullopt;
    bits = (bits << 6U | static_cast<std::uint32_t>(value)) & 0xffffU;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<char>(bits >> count & 0xffU));
  }
  const bool canonical = (bits & ((1U << count) - 1U)) == 0;
  return canonical ? std::optional(std::move(bytes)) : std::nullopt;
}

std::string encode_base64(ByteView bytes) {
  std::string text;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const auto byte : bytes) {
    bits = (bits << 8U | static_cast<std::uint32_t>(byte)) & 0xffffU;
    for (count += 8; count >= 6; count -= 6) text.push_back(kAlphabet[bits >> (count - 6) & 0x3fU]);
  }
  if (count > 0) text.push_back(kAlphabet[bits << (6 - count) & 0x3fU]);
  return text;
}

// RFC 4253 §6.6: a key is its type and then its numbers, each a string whose length is 32 bits
// big-endian. A key that was cut off in a copy is none.
bool is_key_of_type(Names bytes, Names type) {
  constexpr std::size_t kLength = 4;
  std::size_t strings = 0;
  while (bytes.size() >= kLength) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < kLength; ++i)
      length = length << 8U | static_cast<std::uint8_t>(bytes[i]);
    bytes.remove_prefix(kLength);
    if (length > bytes.size()) return false;
    if (strings++ == 0 && bytes.substr(0, length) != type) return false;
    bytes.remove_prefix(length);
  }
  return bytes.empty() && strings > 1;
}

bool has_white_space(Names text) {
  return text.find_first_of(" \t") != Names::npos;
}

std::string lowered(Names text) {
  std::string low(text);
  for (auto& c : low)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return low;
}

Status expect(bool holds, const char* words) {
  return holds ? Status{} : Status(fail(ErrorCode::invalid_argument, words));
}

std::string key_target_of(const Resource& resource) {
  const auto key = find_public_key(resource.text(Field::key));
  return std::string(resource.text(Field::user)).append(" ") +
         (key ? key->fingerprint : std::string(resource.text(Field::key)));
}

std::string setting_target_of(const Resource& resource) {
  const auto format = find_setting_format(resource.text(Field::format));
  return setting_target(
      {std::string(resource.text(Field::path)), format.value_or(SettingFormat::ini),
       std::string(resource.text(Field::section)), std::string(resource.text(Field::key)),
       normalise_lens(resource.text(Field::lens))});
}

// systemd.unit(5) "String escaping": what a unit's name may have, without the at of a template.
bool is_timer_name(Names name) {
  constexpr Names kSuffix = ".timer";
  if (name.size() <= kSuffix.size() || name.size() > 255 || !name.ends_with(kSuffix)) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           Names(":-_.\\").find(c) != Names::npos;
  });
}

}  // namespace

std::optional<PublicKey> find_public_key(std::string_view text) {
  const auto space = text.find(' ');
  if (space == Names::npos || space == 0) return std::nullopt;
  const auto type = text.substr(0, space);
  const auto base64 = text.substr(space + 1);
  const auto bytes = decode_base64(base64);
  if (!bytes || !is_key_of_type(*bytes, type)) return std::nullopt;
  const auto digest = crypto::sha256(as_bytes(*bytes));
  return PublicKey{std::string(type), std::string(base64),
                   "SHA256:" + encode_base64(digest.view())};
}

std::optional<KeyTarget> find_key_target(std::string_view target) {
  const auto space = target.find(' ');
  if (space == Names::npos || space == 0) return std::nullopt;
  const auto fingerprint = target.substr(space + 1);
  if (fingerprint.size() != kFingerprintSize || !fingerprint.starts_with("SHA256:") ||
      fingerprint.substr(7).find_first_not_of(kAlphabet) != Names::npos)
    return std::nullopt;
  return KeyTarget{std::string(target.substr(0, space)), std::string(fingerprint)};
}

std::string_view to_string(SettingFormat format) {
  constexpr std::array<Names, 4> kNames{"ini", "key = value", "key value", "augeas"};
  return kNames.at(static_cast<std::size_t>(format));
}

std::optional<SettingFormat> find_setting_format(std::string_view name) {
  for (const auto format :
       {SettingFormat::ini, SettingFormat::equals, SettingFormat::words, SettingFormat::augeas})
    if (name == to_string(format)) return format;
  return std::nullopt;
}

std::string normalise_lens(std::string_view lens) {
  std::string whole(lens);
  if (!whole.empty() && whole.find('.') == std::string::npos) whole.append(".lns");
  return whole;
}

std::string setting_target(const SettingTarget& setting) {
  switch (setting.format) {
    case SettingFormat::ini:
      return setting.path + " [" + setting.section + "] " + setting.key;
    case SettingFormat::equals:
      return setting.path + " " + setting.key + " =";
    case SettingFormat::words:
      return setting.path + " " + lowered(setting.key);
    case SettingFormat::augeas:
      return setting.path + " {" + setting.lens + "} " + setting.key;
  }
  return {};
}

std::optional<SettingTarget> find_setting_target(std::string_view target) {
  constexpr Names kEquals = " =";
  const auto space = target.find(' ');
  if (space == Names::npos || space == 0 || space + 1 == target.size()) return std::nullopt;
  SettingTarget setting;
  setting.path = target.substr(0, space);
  auto rest = target.substr(space + 1);
  if (rest.front() == '[') {
    const auto close = rest.find("] ");
    if (close == Names::npos || close + 2 == rest.size()) return std::nullopt;
    setting.section = rest.substr(1, close - 1);
    setting.key = rest.substr(close + 2);
    return setting;
  }
  const auto brace = rest.find("} ");
  if (rest.front() == '{' && brace != Names::npos && !rest.ends_with(kEquals)) {
    if (brace + 2 == rest.size()) return std::nullopt;
    setting.format = SettingFormat::augeas;
    setting.lens = rest.substr(1, brace - 1);
    setting.key = rest.substr(brace + 2);
    return setting;
  }
  setting.format = SettingFormat::words;
  if (rest.ends_with(kEquals)) {
    setting.format = SettingFormat::equals;
    rest.remove_suffix(kEquals.size());
  }
  if (rest.empty()) return std::nullopt;
  setting.key = rest;
  return setting;
}

std::string timer_file(std::string_view timer) {
  return std::string("/etc/systemd/system/").append(timer);
}

std::optional<Target> find_spelled_target(const Resource& resource) {
  const auto family = family_of(resource.reference.type);
  switch (family) {
    case TargetFamily::hostname:
      return Target{family, kHostnameTarget};
    case TargetFamily::timezone:
      return Target{family, kTimezoneTarget};
    case TargetFamily::authorized_key:
      return Target{family, key_target_of(resource)};
    case TargetFamily::setting:
      return Target{family, setting_target_of(resource)};
    case TargetFamily::timer:
      return Target{family,
                    normalise_timer(resource.text(Field::timer, resource.reference.name.view()))};
    default:
      return std::nullopt;
  }
}

Status check_spelled_target(const Target& target) {
  const std::string_view name = target.name;
  switch (target.family) {
    case TargetFamily::hostname:
      return expect(name == kHostnameTarget, "a machine has one name");
    case TargetFamily::timezone:
      return expect(name == kTimezoneTarget, "a machine has one time zone");
    case TargetFamily::authorized_key: {
      const auto key = find_key_target(name);
      DATUM_TRY(expect(key.has_value(),
                       "a key is its type and its base64, as the file ending with .pub has them: "
                       "ssh-ed25519 AAAA…; its comment goes into comment"));
      return check_target({TargetFamily::user, key->user});
    }
    case TargetFamily::setting: {
      const auto setting = find_setting_target(name);
      const bool one_word =
          setting && (setting->format != SettingFormat::words || !has_white_space(setting->key));
      DATUM_TRY(expect(one_word && !has_white_space(setting->path),
                       "a Setting names a file whose path has no white space, and a key"));
      return check_path(setting->path);
    }
    case TargetFamily::mount:
      return check_path(name);
    case TargetFamily::timer:
      return expect(is_timer_name(name),
                    "a timer's name has letters, digits and : - _ . \\ and no @");
    default:
      return {};
  }
}

}  // namespace datum::model
