// A shadow of the files on the way from the main file to the part; links stand for all others, so
// that relative names mean what they mean in /etc/nginx.
#include "nginx_shadow.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "unit_shadow.hpp"

namespace datum::resource {

namespace {

constexpr std::string_view kFolder = "/etc/nginx";
constexpr std::string_view kMain = "nginx.conf";
constexpr std::size_t kMaxNginxFile = 1024 * 1024;  // real ones have kilobytes
constexpr std::size_t kMaxFiles = 1000;
constexpr int kMaxIncludes = 8;  // of includes and of links

// One `include PATTERN;` in a text.
struct Include {
  std::size_t begin = 0, end = 0;  // of the directive, the semicolon with it
  std::string pattern;
};

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::vector<Include> run() {
    std::vector<Include> found;
    std::vector<std::string> words;
    std::size_t begin = 0;
    while (skip_space()) {
      const char c = text_[at_];
      if (c == ';' || c == '{' || c == '}') {
        ++at_;
        if (c == ';' && words.size() == 2 && words[0] == "include")
          found.push_back({begin, at_, words[1]});
        words.clear();
        continue;
      }
      if (words.empty()) begin = at_;
      words.push_back(read_word());
    }
    return found;
  }

 private:
  // Space and comments; false at the end.
  bool skip_space() {
    while (at_ < text_.size()) {
      if (std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) {
        ++at_;
      } else if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        return true;
      }
    }
    return false;
  }
  std::string read_word() {
    std::string word;
    const char quote = text_[at_] == '"' || text_[at_] == '\'' ? text_[at_] : '\0';
    if (quote != '\0') ++at_;
    const std::string_view ends = " \t\r\n;{}";
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (quote != '\0' ? c == quote : ends.find(c) != std::string_view::npos) break;
      if (c == '\\' && at_ + 1 < text_.size()) ++at_;
      word.push_back(text_[at_++]);
    }
    if (quote != '\0' && at_ < text_.size()) ++at_;
    return word;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// `*` and `?`, as glob(3) reads them in one component. Goes back to the last `*` only.
bool matches(std::string_view pattern, std::string_view name) {
  std::size_t p = 0;
  std::size_t n = 0;
  std::size_t star = std::string_view::npos;
  std::size_t taken = 0;  // by the last star
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

// `path` without ".." and "." components, by its text alone.
std::string normalised(std::string_view path) {
  std::vector<std::string_view> kept;
  while (!path.empty()) {
    const auto slash = std::min(path.find('/'), path.size());
    const auto part = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (part == "..") {
      if (!kept.empty()) kept.pop_back();
    } else if (!part.empty() && part != ".") {
      kept.push_back(part);
    }
  }
  std::string text;
  for (const auto part : kept) text.append("/").append(part);
  return text;
}

class Shadow {
 public:
  Shadow(Bench& bench, const Work& work, const os::Handle& folder, std::string path)
      : bench_(bench), folder_(folder), path_(std::move(path)) {
    const auto& real = work.where.folder->real_path;
    target_ = (real == "/" ? "" : real) + "/" + work.where.name;
    staged_ = (real == "/" ? "" : real) + "/" + work.temp;
  }

  // The main file of the shadow.
  Result<std::string> make() {
    DATUM_TRY(link_neighbours());
    DATUM_ASSIGN(const auto text, read(std::string(kFolder) + "/" + std::string(kMain)));
    DATUM_ASSIGN(const auto rewritten, rewrite(text, 0));
    DATUM_TRY(write(std::string(kMain), rewritten.value_or(text)));
    return path_ + "/" + std::string(kMain);
  }

 private:
  Result<std::string> read(const std::string& path) {
    auto& files = bench_.files();
    DATUM_ASSIGN(const auto where, bench_.sight.walker().locate(path));
    DATUM_ASSIGN(const auto opened,
                 files.open_file_with_stat(where.folder->handle, where.name, os::Access::read));
    if (opened.stat.size > kMaxNginxFile)
      return fail(ErrorCode::limit_exceeded, path + " is larger than 1 MiB");
    Bytes bytes(opened.stat.size);
    for (std::size_t filled = 0; filled < bytes.size();) {
      DATUM_ASSIGN(const auto count,
                   files.read(opened.handle, MutableByteView(bytes).subspan(filled)));
      if (count == 0) return fail(ErrorCode::conflict, path + " became shorter");
      filled += count;
    }
    return std::string(as_text(bytes));
  }

  Status write(const std::string& name, const std::string& text) {
    DATUM_ASSIGN(const auto file, bench_.files().create_file(folder_, name));
    return bench_.files().write(file, as_bytes(text));
  }

  Status link_neighbours() {
    auto& files = bench_.files();
    DATUM_ASSIGN(const auto where, bench_.sight.walker().locate(std::string(kFolder) + "/x"));
    DATUM_ASSIGN(const auto entries, files.list(where.folder->handle));
    for (const auto& entry : entries) {
      if (entry.name == kMain || entry.name.starts_with(".datum-")) continue;
      DATUM_TRY(files.make_symlink(folder_, entry.name, std::string(kFolder) + "/" + entry.name));
    }
    return {};
  }

  // Where the links at the end of `path` lead; itself if there are none or they lead nowhere.
  std::string resolved(std::string path) {
    for (int i = 0; i < kMaxIncludes; ++i) {
      const auto where = bench_.sight.walker().locate(path);
      if (!where) return path;
      const auto link = bench_.files().read_symlink(where->folder->handle, where->name);
      const auto& real = where->folder->real_path;
      if (!link) return (real == "/" ? "" : real) + "/" + where->name;
      path = normalised(link->starts_with("/") ? *link : real + "/" + *link);
    }
    return path;
  }

  // The files that an include names, in nginx's order, the target with them if it will be one.
  Result<std::vector<std::string>> expand(const std::string& written) {
    const auto whole =
        normalised(written.starts_with("/") ? written : std::string(kFolder) + "/" + written);
    const auto slash = whole.rfind('/');
    const auto folder = whole.substr(0, slash);
    const auto pattern = whole.substr(slash + 1);
    if (folder.find_first_of("*?[") != std::string::npos || pattern.find('[') != std::string::npos)
      return std::vector<std::string>{};  // as it is: nobody writes these
    std::vector<std::string> names;
    if (pattern.find_first_of("*?") == std::string::npos) {
      names.push_back(pattern);
    } else if (const auto where = bench_.sight.walker().locate(folder + "/x")) {
      DATUM_ASSIGN(const auto entries, bench_.files().list(where->folder->handle));
      for (const auto& entry : entries)
        if (entry.name[0] != '.' && matches(pattern, entry.name)) names.push_back(entry.name);
    }
    std::vector<std::string> paths;
    for (const auto& name : names) paths.push_back(folder + "/" + name);
    const auto target_name = target_.substr(target_.rfind('/') + 1);
    const bool covers = resolved(folder + "/" + target_name) == target_ && target_name[0] != '.' &&
                        matches(pattern, target_name);
    if (covers) paths.push_back(folder + "/" + target_name);
    std::sort(paths.begin(), paths.end());
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
    return paths;
  }

  // What stands for an included file in the shadow: the staged one, a rewritten copy, or itself.
  Result<std::string> stand_in(const std::string& path, int depth) {
    const auto real = resolved(path);
    if (real == target_) return staged_;
    if (const auto known = copies_.find(real); known != copies_.end()) return known->second;
    if (copies_.size() >= kMaxFiles || depth >= kMaxIncludes)
      return fail(ErrorCode::limit_exceeded, "nginx includes more files than are looked through");
    copies_[real] = path;
    const auto text = read(real);
    if (!text) return path;  // nginx says what is wrong with it
    DATUM_ASSIGN(const auto rewritten, rewrite(*text, depth + 1));
    if (!rewritten) return path;
    const auto name = ".datum-part-" + std::to_string(copies_.size());
    DATUM_TRY(write(name, *rewritten));
    copies_[real] = path_ + "/" + name;
    return copies_[real];
  }

  // The text with its includes that lead to the target changed; nothing if none does.
  Result<std::optional<std::string>> rewrite(const std::string& text, int depth) {
    std::string out;
    std::size_t copied = 0;
    bool changed = false;
    for (const auto& include : Scanner(text).run()) {
      DATUM_ASSIGN(const auto paths, expand(include.pattern));
      std::string instead;
      bool leads = false;
      for (const auto& path : paths) {
        DATUM_ASSIGN(const auto stands, stand_in(path, depth));
        leads = leads || stands != path;
        instead += "include \"" + stands + "\"; ";
      }
      if (!leads) continue;
      out.append(text, copied, include.begin - copied).append(instead);
      copied = include.end;
      changed = true;
    }
    if (!changed) return std::optional<std::string>();
    return std::optional<std::string>(out.append(text, copied));
  }

  Bench& bench_;
  const os::Handle& folder_;
  std::string path_;
  std::string target_, staged_;
  std::map<std::string, std::string> copies_;  // real path → what stands for it
};

}  // namespace

Status with_nginx_shadow(Bench& bench, Work& work,
                         const std::function<Status(const std::string& main_file)>& check) {
  auto& files = bench.files();
  const auto& parent = work.where.folder->handle;
  const auto name = bench.temp_name_of(work).append(kValidateSuffix);
  const auto& real = work.where.folder->real_path;
  DATUM_TRY(remove_shadow(files, parent, name));
  DATUM_TRY(files.make_directory(parent, name, 0700));
  work.folder_changed = true;
  const auto folder = files.open_directory(parent, name, os::Follow::no);
  auto status = folder ? Status{} : Status(fail(folder.error()));
  if (status) {
    Shadow shadow(bench, work, *folder, (real == "/" ? "" : real) + "/" + name);
    const auto main_file = shadow.make();
    status = main_file ? check(*main_file) : Status(fail(main_file.error()));
  }
  auto removed = remove_shadow(files, parent, name);
  return status ? removed : status;
}

}  // namespace datum::resource
