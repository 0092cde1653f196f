// The editor of one value in a file of lines: tables of what it reads and writes, and laws over
// files made at random.
#include "setting/setting_lines.hpp"

#include <catch2/catch.hpp>
#include <random>

using namespace datum;
using namespace datum::resource;
using model::SettingFormat;
using model::SettingTarget;

namespace {

SettingTarget ini(const char* section, const char* key) {
  return {"/x", SettingFormat::ini, section, key};
}
SettingTarget equals(const char* key) {
  return {"/x", SettingFormat::equals, "", key};
}
SettingTarget words(const char* key) {
  return {"/x", SettingFormat::words, "", key};
}

std::string set(const std::string& text, const SettingTarget& target, const std::string& value) {
  return write_setting(text, find_setting(text, target), target, target.key, value);
}
std::string unset(const std::string& text, const SettingTarget& target) {
  return remove_setting(text, find_setting(text, target));
}
std::string read(const std::string& text, const SettingTarget& target) {
  return find_setting(text, target).values(text);
}

}  // namespace

TEST_CASE("setting lines: a value is found where its format says it stands") {
  CHECK(read("a=1\n[s]\na = 2\n[t]\na=3\n", ini("s", "a")) == "2");
  CHECK(read("a=1\n[s]\na = 2\n", ini("", "a")) == "1");
  CHECK(read("[s]\na=1\n[t]\nb=1\n[s]\na=2\n", ini("s", "a")) == "1; 2");
  CHECK(read("[s] # note\r\na =\t1  \r\n", ini("s", "a")) == "1");
  CHECK(read("[user]\n\tname = x y\n", ini("user", "name")) == "x y");
  CHECK(read("[s]\n#a=1\n;a=2\n", ini("s", "a")).empty());
  CHECK(read("[s]\na b = c=d # e\n", ini("s", "a b")) == "c=d # e");
  CHECK(read("\xef\xbb\xbf"
             "a=1\n",
             ini("", "a")) == "1");
  CHECK(read("a=1\nA=2\n", equals("a")) == "1");
  CHECK(read("[s]\na=1", equals("a")) == "1");
  CHECK(read("  a\n", equals("a")) == "no value");
  CHECK(read("a=\n", equals("a")).empty());
  CHECK(find_setting("a=\n", equals("a")).lines.size() == 1);
  CHECK(read("Port 22\nport=23\nPORT \t24\n#Port 25\nPortal 1\n", words("port")) == "22; 23; 24");
}

TEST_CASE("setting lines: what a block of OpenSSH holds is none of the file's own values") {
  const std::string text = "Port 22\n\nMatch User anna\n  PasswordAuthentication no\n";
  CHECK(read(text, words("passwordauthentication")).empty());
  CHECK(set(text, words("passwordauthentication"), "yes") ==
        "Port 22\npasswordauthentication yes\n\nMatch User anna\n  PasswordAuthentication no\n");
  CHECK(set("Host *\n  Port 1\n", words("port"), "2") == "port 2\nHost *\n  Port 1\n");
}

TEST_CASE("setting lines: [F22] only the bytes of the value change") {
  const std::string text =
      "# first\n; second\n\nkernel.x = 1\nkernel.y=1 \nkernel.x = 1\n junk \xff\n\n# end";
  CHECK(set(text, equals("kernel.x"), "2") ==
        "# first\n; second\n\nkernel.x = 2\nkernel.y=1 \nkernel.x = 2\n junk \xff\n\n# end");
  CHECK(set(text, equals("kernel.x"), "1") == text);
  CHECK(set("[s]\r\n  a\t=\t1\t\r\nb=2\r\n", ini("s", "a"), "22") ==
        "[s]\r\n  a\t=\t22\t\r\nb=2\r\n");
  CHECK(set("Port\t22 \nListen x\n", words("port"), "23") == "Port\t23 \nListen x\n");
  CHECK(set("a\nb = 1\n", equals("a"), "x") == "a = x\nb = 1\n");
}

TEST_CASE("setting lines: [F19] [T01] a new line stands alone, and like its neighbours") {
  CHECK(set("", equals("a"), "1") == "a = 1\n");
  CHECK(set("b=2", equals("a"), "1") == "b=2\na=1\n");
  CHECK(set("b: 2\r\nc", equals("a"), "1") == "b: 2\r\nc\r\na = 1\r\n");
  CHECK(set("", ini("s", "a"), "1") == "[s]\na=1\n");
  CHECK(set("[t]\nb = 1", ini("s", "a"), "1") == "[t]\nb = 1\n\n[s]\na = 1\n");
  CHECK(set("[user]\n\tname = x\n\n[core]\n\tb = 1\n", ini("user", "mail"), "m") ==
        "[user]\n\tname = x\n\tmail = m\n\n[core]\n\tb = 1\n");
  CHECK(set("[s]\n[t]\nb=1\n", ini("s", "a"), "1") == "[s]\na=1\n[t]\nb=1\n");
  CHECK(set("[t]\nb=1\n", ini("", "a"), "1") == "a=1\n[t]\nb=1\n");
  CHECK(set("# note\n\n[t]\nb=1\n", ini("", "a"), "1") == "# note\na=1\n\n[t]\nb=1\n");
  CHECK(set("\xef\xbb\xbf[t]\n", ini("", "a"), "1") ==
        "\xef\xbb\xbf"
        "a=1\n[t]\n");
  CHECK(set("X 1\n\n", words("y"), "2") == "X 1\ny 2\n\n");
}

TEST_CASE("setting lines: a value that goes on in the next line is seen as such") {
  for (const auto* text :
       {"a = 1\n# note\n  2\n", "a = 1 \\\n 2\n", "a = 1,\n    2\n", "a = 1\\\n\\\n2\n"}) {
    CAPTURE(text);
    CHECK(find_setting(text, equals("a")).is_continued());
    CHECK_FALSE(has_value(text, find_setting(text, equals("a")), "1"));
  }
  for (const auto* text : {"a = 1\n\n    2\n", "  a = 1\n  2\n", "a = 1\\\\\nb\n", "a = 1\n  # b\n",
                           "a = 1\n", "a = 1"}) {
    CAPTURE(text);
    CHECK_FALSE(find_setting(text, equals("a")).is_continued());
  }
  CHECK(read("b = 1 \\\na = 2\n", equals("a")).empty());
  CHECK(read("b = 1\n  a = 2\n", equals("a")).empty());
  CHECK(find_setting("Cipher a \\\n b\n", words("cipher")).is_continued());
  CHECK_FALSE(find_setting("Port 1\n  Other 2\n", words("port")).is_continued());
}

TEST_CASE("setting lines: a new line and its neighbours are read apart") {
  CHECK(set(" [s]\nb=1\n", ini("", "a"), "1") == "a=1\n\n [s]\nb=1\n");
  CHECK(set("b = 1 \\", equals("a"), "1") == "b = 1 \\\n\na = 1\n");
  CHECK(set("a = ", words("a"), "1") == "a =1 ");
}

TEST_CASE("setting lines: removal takes the lines of the value and nothing else") {
  CHECK(unset("a=1\nb=2\na=3", equals("a")) == "b=2\n");
  CHECK(unset("[s]\na=1\n[t]\na=1\n", ini("s", "a")) == "[s]\n[t]\na=1\n");
  CHECK(unset("# a=1\r\n\r\nA=1\r\n", equals("a")) == "# a=1\r\n\r\nA=1\r\n");
}

namespace {

// Pieces of which such files are made, and some that only look like them.
std::string random_text(std::mt19937& random) {
  static const std::vector<std::string> kPieces{"a",
                                                "b",
                                                "key",
                                                "=",
                                                " = ",
                                                " ",
                                                "\t",
                                                "\n",
                                                "\n",
                                                "\r\n",
                                                "[",
                                                "]",
                                                "[s]\n",
                                                "[t]",
                                                "#",
                                                ";",
                                                "\\",
                                                "\\\n",
                                                "Match ",
                                                "host",
                                                "\xff",
                                                std::string(1, '\0'),
                                                "\xef\xbb\xbf",
                                                "v",
                                                "a=1\n",
                                                "  a = 2\n",
                                                "a 3\n"};
  std::string text;
  for (auto count = random() % 24; count > 0; --count) text += kPieces[random() % kPieces.size()];
  return text;
}

// Everything but the lines that give the value.
std::string others(const std::string& text, const SettingTarget& target) {
  return unset(text, target);
}

void check_laws(const std::string& text, const SettingTarget& target, const std::string& value) {
  const auto before = find_setting(text, target);
  // A mark in mid-file would be one of the file when what stands before it is removed.
  if (before.is_continued() || text.find("\xef\xbb\xbf", 1) != std::string::npos) return;
  const auto after = set(text, target, value);
  const auto now = find_setting(after, target);
  REQUIRE(has_value(after, now, value));
  REQUIRE(now.lines.size() == std::max<std::size_t>(before.lines.size(), 1));
  REQUIRE(set(after, target, value) == after);
  const auto removed = others(after, target);
  REQUIRE(find_setting(removed, target).lines.empty());
  if (!before.lines.empty()) {
    REQUIRE(removed == others(text, target));
    return;
  }
  // Nothing went away, and only line ends, empty lines and a section's head came.
  const auto kept = before.insert_at;
  REQUIRE(removed.substr(0, kept) == text.substr(0, kept));
  REQUIRE(removed.ends_with(text.substr(kept)));
  REQUIRE(removed.size() <=
          text.size() + 3 * before.line_end.size() +
              (before.has_section ? 0 : target.section.size() + 2 + before.line_end.size()));
}

}  // namespace

TEST_CASE("setting lines: over any file an edit holds, is repeatable and touches nothing else") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const std::vector<SettingTarget> targets{ini("s", "a"), ini("", "a"), ini("t", "key"),
                                           equals("a"),   words("a"),   words("key")};
  for (int round = 0; round < 20'000; ++round) {
    const auto text = random_text(random);
    CAPTURE(text);
    for (const auto& target : targets) check_laws(text, target, round % 3 == 0 ? "1" : "x y");
  }
}
