#include "key_files.hpp"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "datum/crypto/digest.hpp"

namespace datum::control {
namespace {

// Twenty years: renewing an authority means that every machine learns of another pin.
constexpr std::int64_t kAuthorityLifeS = 20LL * 365 * 86'400;
constexpr std::size_t kMaxKeyFile = 8 * 1024;

class OpenFile {
 public:
  explicit OpenFile(int descriptor) : descriptor_(descriptor) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_;
};

Status sync_folder(const std::string& folder) {
  const OpenFile file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.get() < 0 || ::fsync(file.get()) != 0) return fail(error_from_errno(errno, folder));
  return {};
}

Status write_whole(int descriptor, ByteView bytes, const std::string& path) {
  while (!bytes.empty()) {
    const auto wrote = ::write(descriptor, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return fail(error_from_errno(errno, path));
    bytes = bytes.subspan(static_cast<std::size_t>(wrote));
  }
  if (::fsync(descriptor) != 0) return fail(error_from_errno(errno, path));
  return {};
}

// Under its name only when it is whole and synced; an existing file of that name stays.
Status make_key_file(const std::string& folder, const char* name, ByteView bytes) {
  const auto path = folder + "/" + name;
  const auto part = path + ".part";
  const OpenFile file(::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                             S_IRUSR | S_IWUSR));
  if (file.get() < 0) return fail(error_from_errno(errno, part));
  DATUM_TRY(write_whole(file.get(), bytes, part));
  if (::renameat2(AT_FDCWD, part.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) != 0)
    return fail(error_from_errno(errno, path));
  return sync_folder(folder);
}

// nullopt: there is none.
Result<std::optional<Bytes>> find_key_file(const std::string& folder, const char* name) {
  const auto path = folder + "/" + name;
  const OpenFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file.get() < 0 && errno == ENOENT) return std::nullopt;
  struct stat info {};
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0) return fail(error_from_errno(errno, path));
  if (!S_ISREG(info.st_mode) || info.st_uid != ::geteuid() || (info.st_mode & 0077U) != 0)
    return fail(ErrorCode::refused, path + " is not a file of this user alone: chmod 0600 " + path);
  Bytes bytes(kMaxKeyFile);
  const auto size = ::read(file.get(), bytes.data(), bytes.size());
  if (size < 0) return fail(error_from_errno(errno, path));
  bytes.resize(static_cast<std::size_t>(size));
  return std::optional(std::move(bytes));
}

Result<crypto::PrivateKey> make_or_take_key(const std::string& folder, const char* name) {
  DATUM_ASSIGN(auto found, find_key_file(folder, name));
  if (!found) {
    DATUM_ASSIGN(auto key, crypto::PrivateKey::generate());
    auto pem = key.to_pem();
    const auto made = make_key_file(folder, name, as_bytes(pem));
    crypto::wipe(pem);
    if (!made) return fail(made.error());
    return key;
  }
  auto key = crypto::PrivateKey::from_pem(as_text(*found));
  crypto::wipe(*found);
  if (!key) return fail(std::move(key).error().context(folder + "/" + name));
  return key;
}

Result<Bytes> read_key_file(const std::string& folder, const char* name) {
  DATUM_ASSIGN(auto found, find_key_file(folder, name));
  if (found) return std::move(*found);
  return fail(ErrorCode::not_found, folder + "/" + name +
                                        " is missing, and the journal says that it was made: put "
                                        "it back from a backup");
}

Status check_key(const State& state, const core::control::KeyMade& is, const std::string& folder) {
  for (const auto& made : state.keys)
    if (made.use == is.use && made.fingerprint == is.fingerprint) return {};
  return fail(ErrorCode::conflict,
              folder + ": the " + std::string(to_string(is.use)) +
                  " key is not the one that the journal names: put it back from a backup");
}

}  // namespace

core::control::KeyMade describe_authority(const Keyring& keys) {
  const auto key = keys.authority.key;
  return {core::control::KeyUse::authority, Bytes(key.bytes.begin(), key.bytes.end()),
          key.fingerprint(), keys.authority.der};
}

core::control::KeyMade describe_signer(const Keyring& keys) {
  const auto key = keys.signer.public_key();
  return {core::control::KeyUse::signer,
          Bytes(key.bytes.begin(), key.bytes.end()),
          key.fingerprint(),
          {}};
}

Status make_private_folder(const std::string& folder) {
  if (::mkdir(folder.c_str(), S_IRWXU) == 0) {
    const auto at = folder.rfind('/');
    return sync_folder(at == 0 || at == std::string::npos ? "/" : folder.substr(0, at));
  }
  if (errno != EEXIST) return fail(error_from_errno(errno, folder));
  struct stat info {};
  if (::lstat(folder.c_str(), &info) != 0) return fail(error_from_errno(errno, folder));
  if (S_ISDIR(info.st_mode) && info.st_uid == ::geteuid() && (info.st_mode & 0077U) == 0) return {};
  return fail(ErrorCode::refused,
              folder + " is not a folder of this user alone: chmod 0700 " + folder);
}

Status check_own_store(const std::string& folder) {
  struct stat info {};
  if (::lstat(folder.c_str(), &info) != 0 || info.st_uid == ::geteuid()) return {};
  const auto* owner = ::getpwuid(info.st_uid);
  const auto name = owner == nullptr ? "#" + std::to_string(info.st_uid) : owner->pw_name;
  return fail(ErrorCode::refused, folder + " is the store of user " + name +
                                      ": run this as that user (runuser -u " + name +
                                      " -- datum-control ...)");
}

Status check_not_restoring(const std::string& folder) {
  const auto part = folder + "/" + kRestoringFolder;
  struct stat info {};
  if (::lstat(part.c_str(), &info) != 0)
    return errno == ENOENT ? Status() : fail(error_from_errno(errno, part));
  return fail(ErrorCode::conflict, part +
                                       ": a backup is being restored here, or that was cut off: "
                                       "empty " +
                                       folder + " and restore it again");
}

Result<Keyring> make_keys(const std::string& folder, const std::string& mesh, WallNs now) {
  DATUM_ASSIGN(auto key, make_or_take_key(folder, kAuthorityKeyFile));
  DATUM_ASSIGN(auto der, find_key_file(folder, kAuthorityFile));
  if (!der) {
    const auto begin_s = now.ns / kNsPerSecond - kMostClockDifferenceNs / kNsPerSecond;
    DATUM_ASSIGN(const auto made,
                 crypto::issue_authority(key, mesh, {begin_s, begin_s + kAuthorityLifeS},
                                         crypto::random_id()));
    DATUM_TRY(make_key_file(folder, kAuthorityFile, made.der));
    der = made.der;
  }
  DATUM_ASSIGN(auto authority, crypto::read_certificate(*der));
  if (authority.key != key.public_key() || authority.subject.mesh != mesh)
    return fail(ErrorCode::conflict, folder + "/" + kAuthorityFile + " is of mesh " +
                                         authority.subject.mesh +
                                         ", or of another key: begin with an empty folder");
  DATUM_ASSIGN(auto signer, make_or_take_key(folder, kSignerFile));
  return Keyring{std::move(key), std::move(authority), std::move(signer)};
}

Result<Keyring> read_keys(const std::string& folder, const State& state) {
  DATUM_ASSIGN(auto key_text, read_key_file(folder, kAuthorityKeyFile));
  DATUM_ASSIGN(const auto der, read_key_file(folder, kAuthorityFile));
  DATUM_ASSIGN(auto signer_text, read_key_file(folder, kSignerFile));
  auto key = crypto::PrivateKey::from_pem(as_text(key_text));
  auto signer = crypto::PrivateKey::from_pem(as_text(signer_text));
  crypto::wipe(key_text);
  crypto::wipe(signer_text);
  if (!key) return fail(std::move(key).error().context(folder + "/" + kAuthorityKeyFile));
  if (!signer) return fail(std::move(signer).error().context(folder + "/" + kSignerFile));
  DATUM_ASSIGN(auto authority, crypto::read_certificate(der));
  if (authority.key != key->public_key())
    return fail(ErrorCode::conflict, folder + "/" + kAuthorityFile + " is of another key");
  Keyring keys{std::move(*key), std::move(authority), std::move(*signer)};
  DATUM_TRY(check_key(state, describe_authority(keys), folder));
  DATUM_TRY(check_key(state, describe_signer(keys), folder));
  return keys;
}

}  // namespace datum::control
