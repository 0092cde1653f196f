// The lines of an authorized_keys file (sshd(8)), read for one key and written with all other bytes
// as they are. Pure, any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace datum::resource {

// Pieces of the text that was parsed; they live as long as it.
struct KeyLine {
  std::size_t begin = 0;     // of the line in the text
  std::size_t size = 0;      // without its line end
  std::string_view options;  // empty: none
  std::string_view key;      // "ssh-ed25519   AAAA…", as it stands there
  std::string_view comment;  // without white space around it
};
// The lines whose key has that fingerprint (empty: any), in order. What is no key is passed over,
// as sshd does.
[[nodiscard]] std::vector<KeyLine> find_key_lines(std::string_view text,
                                                  std::string_view fingerprint);

struct WantedKey {
  std::string_view key;                     // "ssh-ed25519 AAAA…"
  std::optional<std::string_view> options;  // nothing: as they are
  std::optional<std::string_view> comment;
};
// `lines` of `text` as they are wanted, one more at the end where there are none; a last line
// without an end gets one first.
[[nodiscard]] std::string write_key(std::string_view text, const std::vector<KeyLine>& lines,
                                    const WantedKey& wanted);
[[nodiscard]] std::string remove_key(std::string_view text, const std::vector<KeyLine>& lines);

}  // namespace datum::resource
