// The resource type Hostname: the machine's name in two places, the running kernel and
// /etc/hostname for the next boot (hostname(5)). The file is what is owned and renamed into place;
// the kernel follows it. Under --root there is only the file.
#pragma once

#include <string>
#include <string_view>

#include "../provider.hpp"

namespace datum::resource {

class HostnameProvider final : public Provider {
 public:
  void observe(Sight& sight, const model::Resource& resource,
               core::Observation& seen) const override;
  [[nodiscard]] Status stage(Bench& bench, Work& work) const override;
  [[nodiscard]] Status commit(Bench& bench, Work& work) const override;
  // Never asked for: a machine without a name does not exist.
  [[nodiscard]] Status remove(Bench& bench, Work& work) const override;
};

// What systemd takes from the file: its first line that is neither empty nor a comment, without
// white space around it; empty if there is none.
[[nodiscard]] std::string parse_hostname(std::string_view text);

}  // namespace datum::resource
