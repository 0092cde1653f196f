#include "fstab.hpp"

#include <algorithm>
#include <array>

namespace datum::resource {

namespace {

using Text = std::string_view;
using Options = std::set<std::string, std::less<>>;

constexpr Text kFstabBlank = " \t";
constexpr std::array<Text, 10> kRestrictions{"ro",      "nosuid",     "nodev",       "noexec",
                                             "noatime", "nodiratime", "nosymfollow", "sync",
                                             "dirsync", "lazytime"};
// What takes each of them back, in the same order.
constexpr std::array<Text, 10> kOpposites{"rw",        "suid",      "dev",       "exec",
                                          "atime",     "diratime",  "symfollow", "async",
                                          "nodirsync", "nolazytime"};
// Those that the kernel tells of the file system and not of the mount point (fs/proc_namespace.c).
constexpr std::array<Text, 4> kOfFileSystem{"ro", "sync", "dirsync", "lazytime"};

bool is_octal(char c) {
  return c >= '0' && c <= '7';
}

// Fields as they stand, without the blanks between them.
std::vector<Text> split(Text line) {
  std::vector<Text> fields;
  while (true) {
    const auto begin = line.find_first_not_of(kFstabBlank);
    if (begin == Text::npos) return fields;
    line.remove_prefix(begin);
    const auto size = std::min(line.find_first_of(kFstabBlank), line.size());
    fields.push_back(line.substr(0, size));
    line.remove_prefix(size);
  }
}

Text without_end(Text line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// "/srv/" is "/srv".
Text without_slash(Text path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path;
}

Options split_options(Text options) {
  Options set;
  while (!options.empty()) {
    const auto comma = std::min(options.find(','), options.size());
    const auto one = options.substr(0, comma);
    if (!one.empty() && one != "defaults") set.emplace(one);
    options.remove_prefix(std::min(comma + 1, options.size()));
  }
  return set;
}

std::string line_of(const WantedMount& wanted) {
  return encode_field(wanted.device) + " " + encode_field(wanted.path) + " " +
         encode_field(wanted.fs_type) + " " + encode_field(wanted.options.value_or("defaults")) +
         " 0 0\n";
}

// Each field in the place that it has, whatever stands between and behind them.
std::string edited(Text line, const FstabLine& found, const WantedMount& wanted) {
  const auto fields = split(without_end(line));
  const bool new_options = wanted.options && !are_same_options(found.options, *wanted.options);
  std::string out;
  const char* done = line.data();
  const auto put = [&](std::size_t field, std::string text) {
    out.append(done, fields[field].data());
    out.append(text);
    done = fields[field].data() + fields[field].size();
  };
  if (found.device != wanted.device) put(0, encode_field(wanted.device));
  if (found.fs_type != wanted.fs_type) put(2, encode_field(wanted.fs_type));
  if (new_options && fields.size() > 3) put(3, encode_field(*wanted.options));
  if (new_options && fields.size() == 3) {
    const char* behind = fields[2].data() + fields[2].size();
    if (done < behind) out.append(done, behind);
    out.append(" ").append(encode_field(*wanted.options));
    done = behind;
  }
  return out.append(done, line.data() + line.size());
}

}  // namespace

std::string decode_field(std::string_view field) {
  std::string text;
  for (std::size_t i = 0; i < field.size(); ++i) {
    const bool escape = field[i] == '\\' && i + 3 < field.size() && is_octal(field[i + 1]) &&
                        is_octal(field[i + 2]) && is_octal(field[i + 3]);
    if (!escape) {
      text.push_back(field[i]);
      continue;
    }
    text.push_back(static_cast<char>((field[i + 1] - '0') * 64 + (field[i + 2] - '0') * 8 +
                                     (field[i + 3] - '0')));
    i += 3;
  }
  return text;
}

std::string encode_field(std::string_view text) {
  std::string field;
  for (const char c : text) {
    switch (c) {
      case ' ':
        field.append("\\040");
        break;
      case '\t':
        field.append("\\011");
        break;
      case '\n':
        field.append("\\012");
        break;
      case '\\':
        field.append("\\134");
        break;
      case '#':  // in front of a line it would make it a comment
        field.append("\\043");
        break;
      default:
        field.push_back(c);
    }
  }
  return field;
}

std::vector<FstabLine> find_fstab_lines(std::string_view text, std::string_view path) {
  std::vector<FstabLine> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto newline = text.find('\n', begin);
    const auto end = newline == Text::npos ? text.size() : newline + 1;
    const auto fields = split(without_end(text.substr(begin, end - begin)));
    if (fields.size() >= 3 && fields[0].front() != '#' &&
        without_slash(decode_field(fields[1])) == path)
      lines.push_back({begin, end, decode_field(fields[0]), decode_field(fields[2]),
                       fields.size() > 3 ? decode_field(fields[3]) : "defaults"});
    begin = end;
  }
  return lines;
}

bool are_same_options(std::string_view a, std::string_view b) {
  return split_options(a) == split_options(b);
}

bool is_wanted(const FstabLine& line, const WantedMount& wanted) {
  return line.device == wanted.device && line.fs_type == wanted.fs_type &&
         (!wanted.options || are_same_options(line.options, *wanted.options));
}

std::string write_fstab(std::string_view text, const WantedMount& wanted) {
  const auto lines = find_fstab_lines(text, wanted.path);
  std::string out;
  std::size_t done = 0;
  for (const auto& line : lines) {
    if (is_wanted(line, wanted)) continue;
    out.append(text.substr(done, line.begin - done));
    out.append(edited(text.substr(line.begin, line.end - line.begin), line, wanted));
    done = line.end;
  }
  out.append(text.substr(done));
  if (!lines.empty()) return out;
  if (!out.empty() && out.back() != '\n') out.push_back('\n');
  return out.append(line_of(wanted));
}

std::string remove_fstab(std::string_view text, std::string_view path) {
  std::string out;
  std::size_t done = 0;
  for (const auto& line : find_fstab_lines(text, path)) {
    out.append(text.substr(done, line.begin - done));
    done = line.end;
  }
  return out.append(text.substr(done));
}

// "36 35 98:0 /root /path rw,nosuid shared:1 - ext4 /dev/sda1 rw": what is between the options and
// the dash varies.
std::optional<Mounted> find_mounted(std::string_view mountinfo, std::string_view path) {
  std::optional<Mounted> found;
  while (!mountinfo.empty()) {
    const auto newline = std::min(mountinfo.find('\n'), mountinfo.size());
    const auto fields = split(mountinfo.substr(0, newline));
    mountinfo.remove_prefix(std::min(newline + 1, mountinfo.size()));
    const auto dash = std::find(fields.begin(), fields.end(), "-");
    if (fields.size() < 10 || dash == fields.end() || fields.end() - dash < 4) continue;
    if (decode_field(fields[4]) != path) continue;
    // The last one lies on top.
    found = Mounted{std::string(fields[2]), decode_field(dash[2]), decode_field(dash[1]),
                    split_options(fields[5])};
    for (auto& option : split_options(dash[3]))
      if (std::find(kOfFileSystem.begin(), kOfFileSystem.end(), option) != kOfFileSystem.end())
        found->options.insert(option);
  }
  return found;
}

std::set<std::string, std::less<>> restrictions(std::string_view options) {
  Options found;
  while (!options.empty()) {
    const auto comma = std::min(options.find(','), options.size());
    const auto one = options.substr(0, comma);
    options.remove_prefix(std::min(comma + 1, options.size()));
    // mount(8): who may mount it may not bring such files along.
    if (one == "user" || one == "users") found.insert({"noexec", "nosuid", "nodev"});
    if (one == "owner" || one == "group") found.insert({"nosuid", "nodev"});
    if (const auto at = std::find(kRestrictions.begin(), kRestrictions.end(), one);
        at != kRestrictions.end())
      found.emplace(one);
    // Of two that contradict each other the later one counts (mount(8)).
    if (const auto at = std::find(kOpposites.begin(), kOpposites.end(), one);
        at != kOpposites.end())
      found.erase(std::string(kRestrictions[static_cast<std::size_t>(at - kOpposites.begin())]));
  }
  return found;
}

std::set<std::string, std::less<>> restrictions(const std::set<std::string, std::less<>>& options) {
  Options found;
  for (const auto restriction : kRestrictions)
    if (options.contains(restriction)) found.emplace(restriction);
  return found;
}

}  // namespace datum::resource
