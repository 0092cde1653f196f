// Small files of a store that appear whole or not at all, and that know whether they are whole:
// their bytes, then the SHA-256 of these. Internal to engine.
#pragma once

#include <cstddef>
#include <string_view>

#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"
#include "datum/os/files.hpp"

namespace datum::engine {

// At most `limit` bytes; `corrupt` for more.
[[nodiscard]] Result<Bytes> read_whole(os::Files& files, const os::Handle& folder,
                                       std::string_view name, std::size_t limit);
// Durable on return, with the folder's entry. `no_replace`: what lies there is `already_exists`.
[[nodiscard]] Status write_whole(os::Files& files, const os::Handle& folder, std::string_view name,
                                 ByteView bytes, bool no_replace);
[[nodiscard]] Status write_sealed(os::Files& files, const os::Handle& folder, std::string_view name,
                                  Bytes bytes);
// `corrupt` where the seal does not fit.
[[nodiscard]] Result<Bytes> read_sealed(os::Files& files, const os::Handle& folder,
                                        std::string_view name, std::size_t limit);
// The folder `name` below the store's, 0700, durable; made if it is missing.
[[nodiscard]] Result<os::Handle> make_store_folder(os::Files& files, const std::string& store,
                                                   std::string_view name);
// Nothing there is no error.
[[nodiscard]] Status remove_if_there(os::Files& files, const os::Handle& folder,
                                     std::string_view name);

}  // namespace datum::engine
