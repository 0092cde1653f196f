// passwd(5) and group(5): colon-separated lines, name first, number third. Bytes from outside: a
// line that does not follow the format is passed over, as every reader of these files does.
#include "datum/os/accounts.hpp"

#include <algorithm>
#include <charconv>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "datum/os/walk.hpp"

namespace datum::os {

namespace {

constexpr std::size_t kMaxFileBytes = 64 * 1024 * 1024;
constexpr std::size_t kReadBytes = 64 * 1024;

struct NameTable {
  std::unordered_map<std::string, std::uint32_t> number_of;
  std::unordered_map<std::uint32_t, std::string> name_of;
};

// All digits, and not (uid_t)-1, which means "no change" to the kernel.
std::optional<std::uint32_t> find_number(std::string_view text) {
  std::uint32_t number = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || error != std::errc{} || stop != end || number == UINT32_MAX) return {};
  return number;
}

// The next piece of `rest` up to `separator`, which is taken off.
std::string_view cut(std::string_view& rest, char separator) {
  const auto at = rest.find(separator);
  const auto piece = rest.substr(0, at);
  rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
  return piece;
}

NameTable parse_names(std::string_view text) {
  NameTable table;
  while (!text.empty()) {
    auto line = cut(text, '\n');
    const auto name = cut(line, ':');
    cut(line, ':');  // the password field
    const auto number = find_number(cut(line, ':'));
    // '+' and '-' begin lines that include NIS maps.
    const bool usable = !name.empty() && name[0] != '#' && name[0] != '+' && name[0] != '-';
    if (!usable || !number) continue;
    table.number_of.try_emplace(std::string(name), *number);
    table.name_of.try_emplace(*number, name);
  }
  return table;
}

Result<std::string> read_whole(Files& files, const Location& at) {
  DATUM_ASSIGN(const auto handle, files.open_file(at.folder->handle, at.name, Access::read));
  std::string text;
  while (true) {
    const auto size = text.size();
    if (size > kMaxFileBytes)
      return fail(ErrorCode::limit_exceeded, "larger than 64 MiB: " + at.name);
    text.resize(size + kReadBytes);
    DATUM_ASSIGN(
        const auto count,
        files.read(handle, {reinterpret_cast<std::byte*>(text.data()) + size, kReadBytes}));
    text.resize(size + count);
    if (count == 0) return text;
  }
}

Result<NameTable> read_names(Files& files, Walker& walker, const std::string& path) {
  auto at = walker.locate(path);
  auto text = at ? read_whole(files, *at) : fail(std::move(at).error());
  if (!text && text.error().code() == ErrorCode::not_found) return NameTable{};
  if (!text) return fail(std::move(text).error().context(path));
  return parse_names(*text);
}

class FileAccounts final : public Accounts {
 public:
  FileAccounts(Files& files, const Handle& root) : files_(files), root_(Handle::borrow(root)) {}

  Result<std::optional<std::uint32_t>> find_uid(std::string_view name) override {
    const std::shared_lock lock(mutex_);
    return find_id(users_, name);
  }
  Result<std::optional<std::uint32_t>> find_gid(std::string_view name) override {
    const std::shared_lock lock(mutex_);
    return find_id(groups_, name);
  }
  std::string user_name(std::uint32_t uid) override {
    const std::shared_lock lock(mutex_);
    return name_of(users_, uid);
  }
  std::string group_name(std::uint32_t gid) override {
    const std::shared_lock lock(mutex_);
    return name_of(groups_, gid);
  }
  void refresh() override {
    Walker walker(files_, root_);
    auto users = read_names(files_, walker, "/etc/passwd");
    auto groups = read_names(files_, walker, "/etc/group");
    const std::unique_lock lock(mutex_);
    users_ = std::move(users);
    groups_ = std::move(groups);
  }

 private:
  using Table = Result<NameTable>;

  static Result<std::optional<std::uint32_t>> find_id(const Table& table, std::string_view name) {
    if (name == "root") return 0;
    if (std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; }))
      return find_number(name);
    if (!table) return fail(table.error());
    const auto found = table->number_of.find(std::string(name));
    if (found == table->number_of.end()) return std::nullopt;
    return found->second;
  }
  static std::string name_of(const Table& table, std::uint32_t number) {
    if (table) {
      const auto found = table->name_of.find(number);
      if (found != table->name_of.end()) return found->second;
    }
    return number == 0 ? "root" : std::to_string(number);
  }

  Files& files_;
  const Handle root_;
  std::shared_mutex mutex_;
  Table users_;
  Table groups_;
};

}  // namespace

std::unique_ptr<Accounts> read_accounts(Files& files, const Handle& root) {
  auto accounts = std::make_unique<FileAccounts>(files, root);
  accounts->refresh();
  return accounts;
}

}  // namespace datum::os
