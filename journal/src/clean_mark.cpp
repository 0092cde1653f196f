// The file `clean`: text, so that people can read it, with a checksum, so that nobody has to.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>

#include "datum/crypto/digest.hpp"
#include "store_folder.hpp"

namespace datum::journal {
namespace {

// More than any mark has; a longer file is none.
constexpr std::size_t kMaxMark = 512;
constexpr std::size_t kCrcLine = 13;  // "crc ", 8 digits, newline

std::string crc_line(std::string_view body) {
  std::array<std::byte, 4> crc{};
  const auto value = crypto::crc32c(as_bytes(body));
  for (std::size_t i = 0; i < 4; ++i) crc[i] = static_cast<std::byte>(value >> (24 - 8 * i));
  return "crc " + to_hex(crc) + "\n";
}

std::string body_of(const CleanMark& mark) {
  return "datum-journal-clean 1\nstore " + mark.store.hex() + "\nsize " +
         std::to_string(mark.size) + "\nmtime_ns " + std::to_string(mark.mtime_ns) + "\nctime_ns " +
         std::to_string(mark.ctime_ns) + "\ninode " + std::to_string(mark.inode) + "\nhead " +
         std::to_string(mark.head.seq) + " " + mark.head.hash.hex() + "\n";
}

// Takes "label value" and its end from the front of `text`.
bool take(std::string_view& text, std::string_view label, char end, std::string_view& value) {
  if (!text.starts_with(label)) return false;
  text.remove_prefix(label.size());
  const auto stop = text.find(end);
  if (stop == std::string_view::npos) return false;
  value = text.substr(0, stop);
  text.remove_prefix(stop + 1);
  return true;
}

template <class T>
bool take_number(std::string_view& text, std::string_view label, char end, T& number) {
  std::string_view value;
  if (!take(text, label, end, value)) return false;
  const auto parsed = std::from_chars(value.data(), value.data() + value.size(), number);
  return parsed.ec == std::errc{} && parsed.ptr == value.data() + value.size();
}

std::optional<CleanMark> parse(std::string_view text) {
  if (text.size() < kCrcLine) return std::nullopt;
  const auto body = text.substr(0, text.size() - kCrcLine);
  if (text.substr(body.size()) != crc_line(body)) return std::nullopt;
  CleanMark mark;
  std::string_view version;
  std::string_view store;
  std::string_view hash;
  auto left = body;
  if (!take(left, "datum-journal-clean ", '\n', version) || version != "1") return std::nullopt;
  if (!take(left, "store ", '\n', store) || !take_number(left, "size ", '\n', mark.size) ||
      !take_number(left, "mtime_ns ", '\n', mark.mtime_ns) ||
      !take_number(left, "ctime_ns ", '\n', mark.ctime_ns) ||
      !take_number(left, "inode ", '\n', mark.inode) ||
      !take_number(left, "head ", ' ', mark.head.seq) || !take(left, "", '\n', hash))
    return std::nullopt;
  const auto id = Id128::find_hex(store);
  const auto digest = Digest::find_hex(hash);
  if (!id || !digest || !left.empty()) return std::nullopt;
  mark.store = *id;
  mark.head.hash = *digest;
  return mark;
}

std::int64_t to_ns(const timespec& time) {
  return std::int64_t{time.tv_sec} * kNsPerSecond + time.tv_nsec;
}

}  // namespace

bool CleanMark::operator==(const CleanMark& other) const {
  return store == other.store && head.seq == other.head.seq && head.hash == other.head.hash &&
         size == other.size && mtime_ns == other.mtime_ns && ctime_ns == other.ctime_ns &&
         inode == other.inode;
}

Result<CleanMark> mark_of(int data_fd, const Id128& store, const Head& head) {
  struct stat info {};
  if (::fstat(data_fd, &info) != 0) return fail(error_from_errno(errno, "stat data.mdb"));
  return CleanMark{store,
                   head,
                   static_cast<std::uint64_t>(info.st_size),
                   to_ns(info.st_mtim),
                   to_ns(info.st_ctim),
                   static_cast<std::uint64_t>(info.st_ino)};
}

Status write_clean_mark(int folder, const CleanMark& mark, const StepHook& hook) {
  const auto body = body_of(mark);
  return replace_file(folder, kCleanName, body + crc_line(body), hook);
}

Result<std::optional<CleanMark>> read_clean_mark(int folder) {
  auto fd = open_at(folder, kCleanName, O_RDONLY);
  if (!fd) {
    if (fd.error().code() == ErrorCode::not_found) return std::nullopt;
    return fail(std::move(fd).error());
  }
  std::array<char, kMaxMark> text{};
  const auto size = ::pread(fd->get(), text.data(), text.size(), 0);
  if (size < 0) return fail(error_from_errno(errno, "read clean"));
  return parse({text.data(), static_cast<std::size_t>(size)});
}

Status remove_clean_mark(int folder, const StepHook& hook) {
  const auto reach = [&hook](std::string_view point) {
    if (hook) hook(point);
  };
  reach("before removing the mark");
  if (::unlinkat(folder, kCleanName, 0) != 0) {
    if (errno == ENOENT) return {};
    return fail(error_from_errno(errno, "remove clean"));
  }
  reach("after removing the mark");
  reach("before sync of the removal");
  DATUM_TRY(sync_fd(folder, "the store's folder"));
  reach("after sync of the removal");
  return {};
}

}  // namespace datum::journal
