#include "backup_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "datum/crypto/digest.hpp"
#include "datum/crypto/keys.hpp"

namespace datum::control {
namespace {

constexpr std::string_view kBackupMagic = "DATUMBK1";
// Magic, cost, three zeros, salt.
constexpr std::size_t kCostAt = 8, kSaltAt = 12;
constexpr std::size_t kHeadSize = kSaltAt + crypto::ChunkSeal::kSaltSize;
// Sealed at once: enough that a seal costs nothing, and little to hold.
constexpr std::size_t kChunk = std::size_t{256} << 10U;
constexpr std::uint32_t kLastMark = 1U << 31U;
constexpr std::size_t kMostName = 255;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int get() const { return number_; }

 private:
  int number_;
};

Status write_bytes(int descriptor, ByteView bytes, const std::string& path) {
  while (!bytes.empty()) {
    const auto wrote = ::write(descriptor, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return fail(error_from_errno(errno, path));
    bytes = bytes.subspan(static_cast<std::size_t>(wrote));
  }
  return {};
}

// As many as there are, up to the size of `out`.
Result<std::size_t> read_bytes(int descriptor, MutableByteView out, const std::string& path) {
  std::size_t count = 0;
  while (count < out.size()) {
    const auto size = ::read(descriptor, out.data() + count, out.size() - count);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return fail(error_from_errno(errno, path));
    if (size == 0) break;
    count += static_cast<std::size_t>(size);
  }
  return count;
}

void put_number(Bytes& into, std::uint64_t number, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i)
    into.push_back(static_cast<std::byte>((number >> (8 * i)) & 0xffU));
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

struct BackupWriter::Impl {
  Status flush(bool is_last) {
    const auto count = static_cast<std::uint32_t>(waiting.size());
    Bytes out;
    put_number(out, count | (is_last ? kLastMark : 0U), sizeof count);
    const auto sealed = seal.seal(waiting, is_last);
    out.insert(out.end(), sealed.begin(), sealed.end());
    crypto::wipe(waiting);
    waiting.clear();
    return write_bytes(file.get(), out, part);
  }
  Status take(ByteView bytes) {
    while (!bytes.empty()) {
      const auto count = std::min(bytes.size(), kChunk - waiting.size());
      waiting.insert(waiting.end(), bytes.begin(),
                     bytes.begin() + static_cast<std::ptrdiff_t>(count));
      bytes = bytes.subspan(count);
      if (waiting.size() == kChunk) DATUM_TRY(flush(false));
    }
    return {};
  }
  Status head(std::string_view name, std::uint64_t size) {
    Bytes bytes;
    put_number(bytes, name.size(), 2);
    const auto text = as_bytes(name);
    bytes.insert(bytes.end(), text.begin(), text.end());
    put_number(bytes, size, sizeof size);
    return take(bytes);
  }

  std::string path, part;
  Descriptor file;
  crypto::ChunkSeal seal;
  Bytes waiting;
};

BackupWriter::BackupWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BackupWriter::BackupWriter(BackupWriter&&) noexcept = default;
BackupWriter::~BackupWriter() {
  if (impl_ && !impl_->part.empty()) ::unlink(impl_->part.c_str());
}

Result<BackupWriter> BackupWriter::begin(const std::string& path, const std::string& part,
                                         std::string_view passphrase) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) == 0)
    return fail(ErrorCode::already_exists, path + " is there already");
  std::array<std::byte, crypto::ChunkSeal::kSaltSize> salt{};
  crypto::fill_random(salt);
  DATUM_ASSIGN(auto seal, crypto::ChunkSeal::from_passphrase(passphrase, salt));
  Descriptor file(::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (file.get() < 0) return fail(error_from_errno(errno, part));
  Bytes head(as_bytes(kBackupMagic).begin(), as_bytes(kBackupMagic).end());
  put_number(head, crypto::ChunkSeal::kCost, kSaltAt - kCostAt);
  head.insert(head.end(), salt.begin(), salt.end());
  BackupWriter writer(
      std::unique_ptr<Impl>(new Impl{path, part, std::move(file), std::move(seal), {}}));
  DATUM_TRY(write_bytes(writer.impl_->file.get(), head, part));
  return writer;
}

Status BackupWriter::add(std::string_view name, ByteView bytes) {
  DATUM_TRY(impl_->head(name, bytes.size()));
  return impl_->take(bytes);
}

Status BackupWriter::add_file(std::string_view name, const std::string& path, std::uint64_t size) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (file.get() < 0) return fail(error_from_errno(errno, path));
  DATUM_TRY(impl_->head(name, size));
  Bytes buffer(kChunk);
  while (size > 0) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(size, buffer.size()));
    DATUM_ASSIGN(const auto count,
                 read_bytes(file.get(), MutableByteView(buffer).first(wanted), path));
    if (count == 0) return fail(ErrorCode::corrupt, path + " is shorter than it was");
    DATUM_TRY(impl_->take(ByteView(buffer).first(count)));
    size -= count;
  }
  return {};
}

Status BackupWriter::finish() {
  auto& impl = *impl_;
  DATUM_TRY(impl.head("", 0));
  DATUM_TRY(impl.flush(true));
  if (::fsync(impl.file.get()) != 0) return fail(error_from_errno(errno, impl.part));
  if (::renameat2(AT_FDCWD, impl.part.c_str(), AT_FDCWD, impl.path.c_str(), RENAME_NOREPLACE) != 0)
    return fail(error_from_errno(errno, impl.path));
  impl.part.clear();
  const auto folder = folder_of(impl.path);
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.get() < 0 || ::fsync(opened.get()) != 0) return fail(error_from_errno(errno, folder));
  return {};
}

struct BackupReader::Impl {
  // The next chunk into `ready`; after the last one, nothing may follow.
  Status fill() {
    if (was_last) return fail(ErrorCode::corrupt, path + " ends before its last content");
    std::array<std::byte, sizeof(std::uint32_t)> word{};
    DATUM_ASSIGN(const auto got, read_bytes(file.get(), word, path));
    if (got != word.size()) return fail(ErrorCode::corrupt, path + " is cut off");
    const auto mark = load_le<std::uint32_t>(word.data());
    was_last = (mark & kLastMark) != 0;
    const std::size_t size = mark & ~kLastMark;
    if (size > kChunk) return fail(ErrorCode::corrupt, path + " has a chunk that is none");
    Bytes sealed(size + crypto::ChunkSeal::kTagSize);
    DATUM_ASSIGN(const auto count, read_bytes(file.get(), sealed, path));
    if (count != sealed.size()) return fail(ErrorCode::corrupt, path + " is cut off");
    auto plain = seal.open(sealed, was_last);
    if (!plain) return fail(std::move(plain).error().context(path));
    crypto::wipe(ready);
    ready = std::move(*plain);
    at = 0;
    return {};
  }
  Status take(MutableByteView out) {
    while (!out.empty()) {
      if (at == ready.size()) {
        DATUM_TRY(fill());
        continue;
      }
      const auto count = std::min(out.size(), ready.size() - at);
      std::copy_n(ready.begin() + static_cast<std::ptrdiff_t>(at), count, out.begin());
      at += count;
      out = out.subspan(count);
    }
    return {};
  }
  // Everything was taken, and the file ends here.
  Status check_end() {
    std::byte more{};
    if (!was_last && at == ready.size()) DATUM_TRY(fill());
    DATUM_ASSIGN(const auto count, read_bytes(file.get(), {&more, 1}, path));
    if (was_last && at == ready.size() && count == 0) return {};
    return fail(ErrorCode::corrupt, path + " has more than its contents");
  }

  std::string path;
  Descriptor file;
  crypto::ChunkSeal seal;
  Bytes ready;
  std::size_t at = 0;
  std::uint64_t left = 0;  // of the present content
  bool was_last = false;
};

BackupReader::BackupReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BackupReader::BackupReader(BackupReader&&) noexcept = default;
BackupReader::~BackupReader() {
  if (impl_) crypto::wipe(impl_->ready);
}

Result<BackupReader> BackupReader::open(const std::string& path, std::string_view passphrase) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return fail(error_from_errno(errno, path));
  std::array<std::byte, kHeadSize> head{};
  DATUM_ASSIGN(const auto count, read_bytes(file.get(), head, path));
  const auto magic = as_text(ByteView(head).first(kBackupMagic.size()));
  if (count != head.size() || magic.substr(0, kCostAt - 1) != kBackupMagic.substr(0, kCostAt - 1))
    return fail(ErrorCode::corrupt, path + " is no backup of a control plane");
  const auto cost = load_le<std::uint32_t>(head.data() + kCostAt);
  if (magic != kBackupMagic || cost > crypto::ChunkSeal::kMostCost)
    return fail(ErrorCode::unsupported_version, path + " is of a later version");
  DATUM_ASSIGN(auto seal,
               crypto::ChunkSeal::from_passphrase(passphrase, ByteView(head).subspan(kSaltAt),
                                                  static_cast<std::uint8_t>(cost)));
  return BackupReader(
      std::unique_ptr<Impl>(new Impl{path, std::move(file), std::move(seal), {}, 0, 0, false}));
}

Result<std::optional<BackupReader::Entry>> BackupReader::next() {
  while (impl_->left > 0) {
    DATUM_ASSIGN(const auto passed, read());
    if (passed.empty()) break;
  }
  std::array<std::byte, 2> size{};
  DATUM_TRY(impl_->take(size));
  const std::size_t count = load_le<std::uint16_t>(size.data());
  if (count > kMostName) return fail(ErrorCode::corrupt, impl_->path + " has a name that is none");
  Bytes name(count);
  std::array<std::byte, sizeof(std::uint64_t)> length{};
  DATUM_TRY(impl_->take(name));
  DATUM_TRY(impl_->take(length));
  if (count == 0) {
    DATUM_TRY(impl_->check_end());
    return std::nullopt;
  }
  impl_->left = load_le<std::uint64_t>(length.data());
  return Entry{std::string(as_text(name)), impl_->left};
}

Result<Bytes> BackupReader::read() {
  Bytes bytes(static_cast<std::size_t>(std::min<std::uint64_t>(impl_->left, kChunk)));
  DATUM_TRY(impl_->take(bytes));
  impl_->left -= bytes.size();
  return bytes;
}

}  // namespace datum::control
