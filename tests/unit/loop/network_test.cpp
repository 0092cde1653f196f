// Addresses as text.
#include "datum/loop/network.hpp"

#include <catch2/catch.hpp>
#include <string>

using namespace datum::loop;

TEST_CASE("loop: an address is read as people write it") {
  CHECK(find_address("control.example:7600") == Address{"control.example", 7600});
  CHECK(find_address("192.0.2.1:1") == Address{"192.0.2.1", 1});
  CHECK(find_address("[2001:db8::1]:65535") == Address{"2001:db8::1", 65535});
  CHECK(find_address("[fe80::1%eth0]:7600") == Address{"fe80::1%eth0", 7600});
}

TEST_CASE("loop: what is no address is not read as one") {
  for (const auto* text :
       {"", ":", "control", "control:", ":7600", "control:0", "control:65536", "control:07600",
        "control:76 00", "control:-1", "con trol:1", "2001:db8::1:7600", "[2001:db8::1]",
        "[2001:db8::1:7600", "[]:1", "user@control:1", "control/x:1"})
    CHECK_FALSE(find_address(text).has_value());
  CHECK_FALSE(find_address(std::string(254, 'a') + ":1").has_value());
}

TEST_CASE("loop: an address is written as it is read") {
  for (const auto* text : {"control.example:7600", "192.0.2.1:1", "[2001:db8::1]:65535"})
    CHECK(to_string(*find_address(text)) == text);
}
