// Any bytes as a file that has parts of ours: a value, a line of fstab, a key. Nothing crashes;
// what was written is found again, writing it twice changes nothing, and what is not ours stays.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "authorized_key/key_lines.hpp"
#include "datum/base/assert.hpp"
#include "mount/fstab.hpp"
#include "setting/setting_lines.hpp"

namespace {
using namespace datum;
using namespace datum::resource;
using model::SettingFormat;

void check_setting(std::string_view text, const model::SettingTarget& target) {
  const auto before = find_setting(text, target);
  // A mark in mid-file would be one of the file when what stands before it is removed.
  if (before.is_continued() || text.find("\xef\xbb\xbf", 1) != std::string_view::npos) return;
  const auto after = write_setting(text, before, target, target.key, "v w");
  const auto place = find_setting(after, target);
  DATUM_ASSERT(has_value(after, place, "v w"));
  DATUM_ASSERT(write_setting(after, place, target, target.key, "v w") == after);
  const auto rest = remove_setting(after, place);
  DATUM_ASSERT(find_setting(rest, target).lines.empty());
  DATUM_ASSERT(before.lines.empty() || rest == remove_setting(text, before));
}

void check_fstab(std::string_view text) {
  const WantedMount wanted{"/a b", "UUID=x", "ext4", "ro"};
  const auto after = write_fstab(text, wanted);
  const auto lines = find_fstab_lines(after, wanted.path);
  DATUM_ASSERT(!lines.empty());
  for (const auto& line : lines) DATUM_ASSERT(is_wanted(line, wanted));
  DATUM_ASSERT(write_fstab(after, wanted) == after);
  DATUM_ASSERT(decode_field(encode_field(text)) == text);
  static_cast<void>(find_mounted(text, "/"));
}

void check_keys(std::string_view text) {
  constexpr std::string_view kKey =
      "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";
  constexpr std::string_view kFingerprint = "SHA256:ZkAslGjFiUHdGf/WUL8rQvkib4PTvQatUV0OUQSncCA";
  const WantedKey wanted{kKey, "no-pty", "comment"};
  const auto before = find_key_lines(text, kFingerprint);
  const auto after = write_key(text, before, wanted);
  const auto lines = find_key_lines(after, kFingerprint);
  DATUM_ASSERT(lines.size() == (before.empty() ? 1 : before.size()));
  for (const auto& line : lines)
    DATUM_ASSERT(line.options == "no-pty" && line.comment == "comment");
  DATUM_ASSERT(write_key(after, lines, wanted) == after);
  DATUM_ASSERT(find_key_lines(remove_key(after, lines), kFingerprint).empty());
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const auto format : {SettingFormat::ini, SettingFormat::equals, SettingFormat::words})
    check_setting(bytes, {"/x", format, format == SettingFormat::ini ? "s" : "", "a"});
  check_setting(bytes, {"/x", SettingFormat::ini, "", "a"});
  check_fstab(bytes);
  check_keys(bytes);
  return 0;
}
