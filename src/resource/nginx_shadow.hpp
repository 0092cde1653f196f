// nginx's configuration with a part of it in place, for its validator: the main file, with every
// `include` that leads to the part pointing at what is staged.
#pragma once

#include <functional>
#include <string>

#include "work.hpp"

namespace datum::resource {

// Calls `check` with the path (inside the root) of a main file that includes the staged bytes where
// the live one includes the target: directly, through other included files, or through links as in
// sites-enabled. A part that nothing includes changes nothing. Everything else is what is live. The
// copies lie in a folder beside the target that is gone on return, and that recovery removes.
// `not_found` without /etc/nginx/nginx.conf; `limit_exceeded` for more than 1,000 included files,
// more than 8 levels of them or more than 1 MiB of one.
[[nodiscard]] Status with_nginx_shadow(
    Bench& bench, Work& work, const std::function<Status(const std::string& main_file)>& check);

}  // namespace datum::resource
