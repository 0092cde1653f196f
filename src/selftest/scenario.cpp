#include "datum/selftest/scenario.hpp"

#include <array>
#include <utility>
#include <vector>

namespace datum::selftest {
namespace {

constexpr std::array<std::string_view, 5> kFolders = {"etc", "etc/app", "etc/app/parts", "srv",
                                                      "srv/data"};
constexpr std::string_view kPurged = "etc/app/purged";
constexpr std::string_view kSecretFile = "etc/app/secret";
constexpr std::uint32_t kUpdated = 14;            // files whose content differs in each version
constexpr std::uint32_t kUpdatedLarge = 80;       // more than one sync of the file system is for
constexpr std::uint32_t kRemoded = 6;             // files of which only the mode differs
constexpr std::uint32_t kComing = 5;              // files of every other version
constexpr std::uint32_t kLinks = 20;              // links whose text differs
constexpr std::uint32_t kStrays = 3;              // entries that are purged
constexpr std::uint32_t kLargeBytes = 96 * 1024;  // written in several pieces
constexpr std::uint32_t kPlain = 0644;

std::string number(std::uint32_t value) {
  return (value < 10 ? "0" : "") + std::to_string(value);
}

// splitmix64: values that look random and are always the same.
std::uint64_t scramble(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15U;
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31U);
}

std::string hex(std::uint64_t value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text.push_back(kDigits[(value >> shift) & 15U]);
  return text;
}

std::string octal(std::uint32_t mode) {
  std::string text = "0";
  for (int shift = 6; shift >= 0; shift -= 3)
    text.push_back(static_cast<char>('0' + ((mode >> shift) & 7U)));
  return text;
}

// Contents have letters, digits, spaces and newlines only.
std::string in_quotes(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '\n' ? std::string("\\n") : std::string(1, c);
  return out + "\"";
}

class Builder {
 public:
  Builder(std::uint64_t seed, std::uint32_t version, Size size)
      : seed_(seed), version_(version), size_(size) {}

  Scenario run() {
    folders();
    files();
    modes();
    comings();
    links();
    special();
    return std::move(scenario_);
  }

 private:
  [[nodiscard]] std::string lines(const std::string& name, std::uint32_t count) const {
    std::string text;
    for (std::uint32_t i = 0; i < count; ++i)
      text += name + " version " + std::to_string(version_) + " line " + std::to_string(i) + "\n";
    return text;
  }

  void begin(std::string_view type, const std::string& path) {
    auto name = path;
    for (auto& c : name)
      if (c == '/') c = '-';
    scenario_.documents.append("---\ndatum: v1alpha1\ntype: ").append(type);
    scenario_.documents += "\nname: " + name + "\ndesired:\n  path: /" + path + "\n";
  }
  void field(std::string_view key, const std::string& value) {
    scenario_.documents.append("  ").append(key).append(": ").append(value).append("\n");
  }

  void folder(const std::string& path, std::uint32_t mode) {
    begin("Directory", path);
    field("mode", in_quotes(octal(mode)));
    scenario_.tree[path] = {Kind::directory, mode, {}};
  }
  void file(const std::string& path, std::string content, std::uint32_t mode) {
    begin("File", path);
    field("mode", in_quotes(octal(mode)));
    field("content", in_quotes(content));
    scenario_.tree[path] = {Kind::file, mode, std::move(content)};
  }

  void folders() {
    for (const auto path : kFolders) folder(std::string(path), 0755);
    // One whose mode changes, one that comes and goes.
    folder("srv/mode", version_ % 2 == 0 ? 0750 : 0755);
    if (version_ % 2 == 0) folder("srv/coming", 0755);
    folder(std::string(kPurged), 0755);
    field("purge", "true");
    for (std::uint32_t i = 0; i < kStrays; ++i)
      scenario_.strays.insert(std::string(kPurged) + "/stray" + number(i));
  }
  void files() {
    const auto count = size_ == Size::small ? kUpdated : kUpdatedLarge;
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto name = "f" + number(i);
      file(std::string(kFolders[i % kFolders.size()]) + "/" + name, lines(name, 1 + i * 7 % 40),
           kPlain);
    }
  }
  void modes() {
    for (std::uint32_t i = 0; i < kRemoded; ++i)
      file("srv/data/mode" + number(i), "the same in every version\n",
           version_ % 2 == 0 ? 0664 : 0644);
  }
  // The even versions lack some files, the odd ones others; one of them says so itself.
  void comings() {
    for (std::uint32_t i = 0; i < kComing; ++i)
      if ((i + version_) % 2 == 0) {
        const auto name = "coming" + number(i);
        file("etc/app/parts/" + name, lines(name, 3), kPlain);
      }
    const std::string path = "etc/app/absent";
    if (version_ % 2 != 0) return file(path, lines("absent", 2), kPlain);
    begin("File", path);
    field("state", "absent");
  }
  void links() {
    for (std::uint32_t i = 0; i < kLinks; ++i) {
      const auto path = "srv/link" + number(i);
      const auto text = "data/f" + number(i) + "-" + std::to_string(version_);
      begin("Symlink", path);
      field("target", text);
      scenario_.tree[path] = {Kind::symlink, 0, text};
    }
  }
  // A large file from a source, a sensitive one, and one that a unit wants to hear of.
  void special() {
    auto large = lines("large", 1);
    const auto piece = lines("large", 64);
    while (large.size() < kLargeBytes) large += piece;
    begin("File", "srv/data/large");
    field("mode", in_quotes(octal(kPlain)));
    field("source", "large");
    scenario_.tree["srv/data/large"] = {Kind::file, kPlain, large};
    scenario_.sources["large"] = std::move(large);

    scenario_.secret = secret_mark(seed_) + hex(scramble(seed_ + version_)) + "\n";
    file(std::string(kSecretFile), scenario_.secret, 0600);
    field("sensitive", "true");

    file("etc/app/heard", lines("heard", 1), kPlain);
    scenario_.documents +=
        "---\ndatum: v1alpha1\ntype: Service\nname: datum-selftest\nreloadOn: "
        "[\"File[etc-app-heard]\"]\ndesired:\n  state: running\n  enabled: true\n";
  }

  std::uint64_t seed_;
  std::uint32_t version_;
  Size size_;
  Scenario scenario_;
};

}  // namespace

std::string secret_mark(std::uint64_t seed) {
  return "selftest-secret-" + hex(scramble(seed)) + "-";
}

Scenario make_scenario(std::uint64_t seed, std::uint32_t version, Size size) {
  return version == 0 ? Scenario{} : Builder(seed, version, size).run();
}

std::map<std::string, std::string> fleet_frame() {
  const std::string head = "datum: v1alpha1\ntype: ";
  const std::string layer(kLayerFolder);
  return {{"datum.yaml", head + "Fleet\nname: selftest\n"},
          {"host.yaml", head + "Host\nname: " + std::string(kHostName) + "\n"},
          {layer + "/layer.yaml", head + "Layer\nname: " + layer + "\n"}};
}

}  // namespace datum::selftest
