// Lenses of the real libaugeas: values found, changed, made and taken out, and what is refused.
#include "datum/os/lenses.hpp"

#include <catch2/catch.hpp>
#include <optional>

#include "datum/os_linux/linux_lenses.hpp"

using namespace datum;

namespace {

constexpr const char* kHosts = "# c\n127.0.0.1\tlocalhost  # here\n10.0.0.1 a b\n10.0.0.1 a\n";

os::LensPlace hosts(std::string path) {
  return {"Hosts.lns", std::move(path)};
}

std::string found(os::Lenses& lenses, const os::LensPlace& place, std::string_view text) {
  const auto values = lenses.find(place, text);
  if (!values) return values.error().message();
  std::string all;
  for (const auto& value : *values) all += value.value_or("(none)") + ";";
  return all;
}

}  // namespace

TEST_CASE("lenses: a path names the values of all its nodes, and a node may have none") {
  const auto lenses = os_linux::make_lenses();
  CHECK(found(*lenses, hosts("*[ipaddr = '10.0.0.1']/canonical"), kHosts) == "a;a;");
  CHECK(found(*lenses, hosts("1"), kHosts) == "(none);");
  CHECK(found(*lenses, hosts("9/canonical"), kHosts).empty());
  CHECK(found(*lenses, hosts("1/canonical"), "").empty());
}

TEST_CASE("lenses: only the bytes of what differs change") {
  const auto lenses = os_linux::make_lenses();
  const auto place = hosts("*[ipaddr = '10.0.0.1']/canonical");
  CHECK(lenses->edit(place, kHosts, "x") ==
        "# c\n127.0.0.1\tlocalhost  # here\n10.0.0.1 x b\n10.0.0.1 x\n");
  CHECK(lenses->edit(place, kHosts, "a") == kHosts);
  CHECK(lenses->edit(hosts("*[ipaddr = '10.0.0.1']"), kHosts, std::nullopt) ==
        "# c\n127.0.0.1\tlocalhost  # here\n");
  CHECK(lenses->edit(hosts("2/alias[last() + 1]"), kHosts, "z") ==
        "# c\n127.0.0.1\tlocalhost  # here\n10.0.0.1 a b z\n10.0.0.1 a\n");
  CHECK(lenses->edit(hosts("9/canonical"), kHosts, std::nullopt) == kHosts);
}

TEST_CASE("lenses: what cannot be read, found or written is told, and holds nothing of the text") {
  const auto lenses = os_linux::make_lenses();
  const auto code = [&](const os::LensPlace& place, std::string_view text) {
    const auto values = lenses->find(place, text);
    return values ? std::optional<ErrorCode>() : values.error().code();
  };
  CHECK(code({"Nosuch.lns", "1"}, kHosts) == ErrorCode::not_found);
  CHECK(code(hosts("1["), kHosts) == ErrorCode::invalid_argument);
  CHECK(code(hosts("1 | /in"), kHosts) == ErrorCode::invalid_argument);
  CHECK(code(hosts("1"), std::string_view("10.0.0.1 a\n\0", 12)) == ErrorCode::unsupported);
  CHECK(code(hosts("1"), std::string(os::kMaxLensText + 1, '#')) == ErrorCode::limit_exceeded);
  for (const auto& [open, close] :
       {std::pair<std::string, std::string>("[", "]"), {"<a>", "</a>"}}) {
    std::string deep;
    for (int i = 0; i < 50'000; ++i) deep += open;
    CHECK(code({open == "[" ? "Json.lns" : "Xml.lns", "1"}, deep) == ErrorCode::limit_exceeded);
    std::string flat;
    for (int i = 0; i < 5'000; ++i) flat += open + close;
    CHECK(code({open == "[" ? "Json.lns" : "Xml.lns", "1"}, flat) != ErrorCode::limit_exceeded);
  }
  const auto unread = lenses->find(hosts("1"), "10.0.0.1 a\nhidden\n");
  REQUIRE_FALSE(unread);
  CHECK(unread.error().code() == ErrorCode::unsupported);
  CHECK(unread.error().message().find("line 2") != std::string::npos);
  CHECK(unread.error().message().find("hidden") == std::string::npos);
  const auto unwritten = lenses->edit(hosts("1/nothing"), kHosts, "hidden");
  REQUIRE_FALSE(unwritten);
  CHECK(unwritten.error().code() == ErrorCode::refused);
  CHECK(unwritten.error().message().find("hidden") == std::string::npos);
}

TEST_CASE("lenses: without the library it is said what to install") {
  const auto lenses = os_linux::make_lenses("libaugeas-is-not-here.so.0");
  const auto seen = lenses->find(hosts("1"), kHosts);
  REQUIRE_FALSE(seen);
  CHECK(seen.error().code() == ErrorCode::unavailable);
  CHECK(seen.error().message().find("install libaugeas0") != std::string::npos);
  CHECK(lenses->edit(hosts("1"), kHosts, "x").error().code() == ErrorCode::unavailable);
}
