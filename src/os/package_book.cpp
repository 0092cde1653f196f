// Reading dpkg's `status` and `updates` (deb822 paragraphs, see dpkg(1) and deb-control(5)). One
// walk over the bytes; values are views into them. Only the fields that matter are looked at.
#include <algorithm>
#include <array>
#include <cstring>

#include "datum/os/packages.hpp"

namespace datum::os {

namespace {

struct StateWord {
  std::string_view word;
  PackageState state;
};
// All words of dpkg since 1.15, and the two that older ones wrote.
constexpr std::array kStates{
    StateWord{"not-installed", PackageState::not_installed},
    StateWord{"config-files", PackageState::config_files},
    StateWord{"half-installed", PackageState::half_installed},
    StateWord{"unpacked", PackageState::unpacked},
    StateWord{"half-configured", PackageState::half_configured},
    StateWord{"triggers-awaited", PackageState::triggers_awaited},
    StateWord{"triggers-pending", PackageState::triggers_pending},
    StateWord{"installed", PackageState::installed},
    StateWord{"postinst-failed", PackageState::half_configured},
    StateWord{"removal-failed", PackageState::half_installed},
};
constexpr std::array<std::string_view, 5> kWants{"unknown", "install", "hold", "deinstall",
                                                 "purge"};

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

bool is_field(std::string_view name, std::string_view lower_case) {
  return name.size() == lower_case.size() &&
         std::equal(name.begin(), name.end(), lower_case.begin(),
                    [](char a, char b) { return lower(a) == b; });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

std::string_view take_word(std::string_view& text) {
  text = trimmed(text);
  const auto end = std::min(text.find_first_of(" \t"), text.size());
  const auto word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '+' || c == '.' || c == '_';
  });
}

bool is_version(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127; });
}

// Paragraphs of one file.
class Reader {
 public:
  Reader(std::string_view text, const char* what) : text_(text), what_(what) {}

  Status read(std::vector<InstalledPackage>& into) {
    std::string_view line;
    while (take_line(line)) {
      if (trimmed(line).empty()) {
        DATUM_TRY(end_paragraph(into));
      } else if (line.front() == ' ' || line.front() == '\t') {
        DATUM_TRY(continue_field(line));
      } else {
        DATUM_TRY(begin_field(line));
      }
    }
    return end_paragraph(into);
  }

 private:
  bool take_line(std::string_view& line) {
    if (at_ >= text_.size()) return false;
    const auto* const begin = text_.data() + at_;
    const auto* const end = static_cast<const char*>(std::memchr(begin, '\n', text_.size() - at_));
    const auto size = end == nullptr ? text_.size() - at_ : static_cast<std::size_t>(end - begin);
    line = {begin, size};
    at_ += size + 1;
    ++number_;
    return true;
  }

  Status broken(std::string_view why) const {
    return fail(ErrorCode::corrupt,
                std::string(what_) + ":" + std::to_string(number_) + ": " + std::string(why));
  }

  Status continue_field(std::string_view line) {
    if (!in_paragraph_) return broken("a line that continues nothing");
    if (!in_conffiles_) return {};
    auto& value = package_.conffiles;
    const auto* const begin = value.empty() ? line.data() : value.data();
    value = {begin, static_cast<std::size_t>(line.data() + line.size() - begin)};
    return {};
  }

  Status begin_field(std::string_view line) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0) return broken("not a field");
    in_paragraph_ = true;
    in_conffiles_ = false;
    const auto name = line.substr(0, colon);
    const auto value = trimmed(line.substr(colon + 1));
    switch (lower(name.front())) {
      case 'p':
        if (is_field(name, "package")) return set(package_.name, value, is_name(value));
        break;
      case 's':
        if (is_field(name, "status")) return set_status(value);
        break;
      case 'a':
        if (is_field(name, "architecture"))
          return set(package_.architecture, value, is_name(value));
        break;
      case 'v':
        if (is_field(name, "version")) return set(package_.version, value, is_version(value));
        break;
      case 'c':
        in_conffiles_ = is_field(name, "conffiles");
        break;
      default:
        break;
    }
    return {};
  }

  Status set(std::string_view& field, std::string_view value, bool valid) const {
    if (!valid) return broken("a value that it cannot have");
    field = value;
    return {};
  }

  // "want flag state"
  Status set_status(std::string_view text) {
    const auto want = take_word(text);
    const auto flag = take_word(text);
    const auto word = take_word(text);
    const auto* const known = std::find_if(kStates.begin(), kStates.end(),
                                           [word](const auto& each) { return each.word == word; });
    const bool known_want = std::count(kWants.begin(), kWants.end(), want) != 0;
    const bool whole = flag == "ok" || flag == "hold";
    const bool broken_flag = flag == "reinstreq" || flag == "hold-reinstreq";
    if (known == kStates.end() || !known_want || !(whole || broken_flag) || !trimmed(text).empty())
      return broken("a status of no known form");
    package_.state = known->state;
    package_.held = want == "hold" || flag == "hold" || flag == "hold-reinstreq";
    package_.needs_reinstall = broken_flag;
    has_status_ = true;
    return {};
  }

  Status end_paragraph(std::vector<InstalledPackage>& into) {
    if (!in_paragraph_) return {};
    if (package_.name.empty()) return broken("a paragraph without a package");
    if (!has_status_) return broken("a package without a status");
    into.push_back(package_);
    package_ = {};
    in_paragraph_ = in_conffiles_ = has_status_ = false;
    return {};
  }

  std::string_view text_;
  const char* what_;
  std::size_t at_ = 0;
  std::size_t number_ = 0;
  InstalledPackage package_;
  bool in_paragraph_ = false;
  bool in_conffiles_ = false;
  bool has_status_ = false;
};

bool comes_before(const InstalledPackage& a, const InstalledPackage& b) {
  return a.name != b.name ? a.name < b.name : a.architecture < b.architecture;
}

// The last one told counts.
void keep_last(std::vector<InstalledPackage>& packages) {
  std::stable_sort(packages.begin(), packages.end(), comes_before);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < packages.size(); ++i) {
    const bool again = kept > 0 && packages[kept - 1].name == packages[i].name &&
                       packages[kept - 1].architecture == packages[i].architecture;
    packages[again ? kept - 1 : kept] = packages[i];
    if (!again) ++kept;
  }
  packages.resize(kept);
}

}  // namespace

std::string_view to_string(PackageState state) {
  for (const auto& known : kStates)
    if (known.state == state) return known.word;
  return "?";
}

bool is_present(const InstalledPackage& package) {
  return package.state != PackageState::not_installed &&
         package.state != PackageState::config_files;
}

bool is_interrupted(const InstalledPackage& package) {
  return is_present(package) &&
         (package.state != PackageState::installed || package.needs_reinstall);
}

std::string describe(const InstalledPackage& package) {
  const auto state = package.needs_reinstall ? std::string_view("needs to be installed again")
                                             : to_string(package.state);
  return std::string(package.name) + " (" + std::string(state) + ")";
}

Result<PackageBook> PackageBook::parse(std::string status, std::vector<std::string> updates) {
  PackageBook book;
  book.texts_.push_back(std::make_unique<const std::string>(std::move(status)));
  for (auto& text : updates)
    book.texts_.push_back(std::make_unique<const std::string>(std::move(text)));
  for (std::size_t i = 0; i < book.texts_.size(); ++i)
    DATUM_TRY(Reader(*book.texts_[i], i == 0 ? "status" : "updates").read(book.packages_));
  keep_last(book.packages_);
  const auto dpkg = std::find_if(
      book.packages_.begin(), book.packages_.end(),
      [](const InstalledPackage& each) { return each.name == "dpkg" && is_present(each); });
  if (dpkg != book.packages_.end()) book.native_ = dpkg->architecture;
  return book;
}

// Where two would do, the one that is there counts.
const InstalledPackage* PackageBook::find(std::string_view name) const {
  const auto colon = name.find(':');
  const auto wanted = colon == std::string_view::npos ? native_ : name.substr(colon + 1);
  InstalledPackage key;
  key.name = name.substr(0, colon);
  const InstalledPackage* found = nullptr;
  for (auto at = std::lower_bound(packages_.begin(), packages_.end(), key, comes_before);
       at != packages_.end() && at->name == key.name; ++at) {
    const bool fits = at->architecture == wanted ||
                      (colon == std::string_view::npos &&
                       (wanted.empty() || at->architecture == "all" || at->architecture.empty()));
    if (fits && (found == nullptr || !is_present(*found))) found = &*at;
  }
  return found;
}

}  // namespace datum::os
