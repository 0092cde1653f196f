// Targets that are spelled out of several fields, or stand once on a machine: a key of a user, a
// value in a file, the machine's name and zone. Whoever meets such a target alone, as one that left
// the declaration, gets its parts back from here. Pure, any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "datum/base/error.hpp"
#include "datum/model/manifest.hpp"

namespace datum::model {

// The two that every machine has once.
inline constexpr std::string_view kHostnameTarget = "/etc/hostname";
inline constexpr std::string_view kTimezoneTarget = "/etc/localtime";

// One public key as sshd(8) "AUTHORIZED_KEYS FILE FORMAT" has it.
struct PublicKey {
  std::string type;         // "ssh-ed25519"
  std::string base64;       // as written
  std::string fingerprint;  // "SHA256:" and the base64 of the digest without its filling
};
// "TYPE BASE64" and nothing else; the base64 is canonical, and its bytes are a whole key of that
// type.
[[nodiscard]] std::optional<PublicKey> find_public_key(std::string_view text);

// "anna SHA256:…": the fingerprint stands for the key, whose own text is too long for a report.
struct KeyTarget {
  std::string user;
  std::string fingerprint;
};
[[nodiscard]] std::optional<KeyTarget> find_key_target(std::string_view target);

enum class SettingFormat : std::uint8_t { ini, equals, words, augeas };
[[nodiscard]] std::optional<SettingFormat> find_setting_format(std::string_view name);
[[nodiscard]] std::string_view to_string(SettingFormat format);  // as documents write it

// "/etc/x.ini [main] key", "/etc/x.conf key =", "/etc/x.conf key", "/etc/x.json {Json.lns} key":
// the path has no white space, a section no `]`, a key of the second and third form no `=`, and one
// of the fourth does not end with it. Keys of the third form are the same in any case, and stand
// here in lower case.
struct SettingTarget {
  std::string path;
  SettingFormat format = SettingFormat::ini;
  std::string section;  // empty: above the first one
  std::string key;
  std::string lens = {};  // of augeas: "Json.lns"
};
// "Json" is "Json.lns", the name that nearly every module gives the lens that it is about.
[[nodiscard]] std::string normalise_lens(std::string_view lens);
[[nodiscard]] std::string setting_target(const SettingTarget& setting);
[[nodiscard]] std::optional<SettingTarget> find_setting_target(std::string_view target);

// "/etc/systemd/system/backup.timer".
[[nodiscard]] std::string timer_file(std::string_view timer);

// The target of a resource of these types, nothing for another one. Where its fields do not yield
// one, it is what `check_spelled_target` refuses.
[[nodiscard]] std::optional<Target> find_spelled_target(const Resource& resource);
// `invalid_argument` with what is expected.
[[nodiscard]] Status check_spelled_target(const Target& target);

}  // namespace datum::model
