#include "sealed_file.hpp"

#include <algorithm>
#include <string>

#include "datum/crypto/digest.hpp"

namespace datum::engine {

Status remove_if_there(os::Files& files, const os::Handle& folder, std::string_view name) {
  auto removed = files.remove_file(folder, name);
  if (!removed && removed.error().code() == ErrorCode::not_found) return {};
  return removed;
}

Result<Bytes> read_whole(os::Files& files, const os::Handle& folder, std::string_view name,
                         std::size_t limit) {
  DATUM_ASSIGN(const auto file, files.open_file(folder, name, os::Access::read));
  DATUM_ASSIGN(const auto stat, files.stat(file));
  if (stat.size > limit)
    return fail(ErrorCode::corrupt, std::string(name) + " is larger than any of its kind");
  Bytes bytes(stat.size);
  std::size_t size = 0;
  while (size < bytes.size()) {
    DATUM_ASSIGN(const auto count, files.read(file, MutableByteView(bytes).subspan(size)));
    if (count == 0) break;
    size += count;
  }
  bytes.resize(size);
  return bytes;
}

Status write_whole(os::Files& files, const os::Handle& folder, std::string_view name,
                   ByteView bytes, bool no_replace) {
  const auto part = std::string(name) + ".part";
  DATUM_TRY(remove_if_there(files, folder, part));
  {
    DATUM_ASSIGN(const auto file, files.create_file(folder, part));
    DATUM_TRY(files.write(file, bytes));
    DATUM_TRY(files.sync(file));
  }
  DATUM_TRY(files.rename(folder, part, folder, name, no_replace));
  return files.sync(folder);
}

Status write_sealed(os::Files& files, const os::Handle& folder, std::string_view name,
                    Bytes bytes) {
  const auto seal = crypto::sha256(bytes);
  const auto view = seal.view();
  bytes.insert(bytes.end(), view.begin(), view.end());
  return write_whole(files, folder, name, bytes, false);
}

Result<Bytes> read_sealed(os::Files& files, const os::Handle& folder, std::string_view name,
                          std::size_t limit) {
  DATUM_ASSIGN(auto bytes, read_whole(files, folder, name, limit + Digest::kSize));
  if (bytes.size() < Digest::kSize) return fail(ErrorCode::corrupt, std::string(name) + " is cut");
  const auto size = bytes.size() - Digest::kSize;
  const auto seal = crypto::sha256(ByteView(bytes).first(size));
  if (!std::equal(seal.view().begin(), seal.view().end(), ByteView(bytes).subspan(size).begin()))
    return fail(ErrorCode::corrupt, std::string(name) + " is damaged");
  bytes.resize(size);
  return bytes;
}

Result<os::Handle> make_store_folder(os::Files& files, const std::string& store,
                                     std::string_view name) {
  constexpr std::uint32_t kOwnerOnly = 0700;
  DATUM_ASSIGN(const auto handle, files.open_root(store));
  if (auto made = files.make_directory(handle, name, kOwnerOnly);
      !made && made.error().code() != ErrorCode::already_exists)
    return fail(std::move(made).error());
  DATUM_TRY(files.sync(handle));
  return files.open_directory(handle, name, os::Follow::no);
}

}  // namespace datum::engine
