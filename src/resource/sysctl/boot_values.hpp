// What the files of sysctl.d(5) say of one parameter: in our own drop-in, and in any that comes
// after it and so wins at boot.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datum/base/error.hpp"
#include "datum/model/manifest.hpp"

namespace datum::resource {

class Sight;

struct DropIn {
  std::optional<std::string> value;   // of the key, the last one; as written, without white space
                                      // around it
  std::optional<std::string> before;  // live value before Datum, where the file says it
};
// Of our own file. Lines that say nothing of the key are passed over.
[[nodiscard]] DropIn parse_drop_in(std::string_view text, std::string_view key);
// The whole file. `before` must be one line.
[[nodiscard]] std::string write_drop_in(const model::Resource& sysctl,
                                        const std::optional<std::string>& before);

// All assignments of all files, in the order in which they are applied. One look, one thread.
class BootValues {
 public:
  struct Assignment {
    std::string file;  // "/etc/sysctl.d/99-local.conf"
    std::string value;
  };
  // Reads the folders once. A file that cannot be read is passed over, as systemd-sysctl does; its
  // name is in `unread`.
  [[nodiscard]] Status read(Sight& sight);
  // What comes after our drop-in and sets the key to something else; null if nothing does.
  [[nodiscard]] const Assignment* find_later(std::string_view key, std::string_view wanted) const;
  [[nodiscard]] const std::vector<std::string>& unread() const { return unread_; }

 private:
  using ByKey = std::map<std::string, Assignment, std::less<>>;
  static void add(ByKey& settings, const std::string& path, std::string_view text);

  ByKey drop_ins_;   // the last of all drop-ins
  ByKey main_file_;  // the last in /etc/sysctl.conf
  std::vector<std::string> unread_;
};

}  // namespace datum::resource
