// Addresses as text.
#include "datum/loop/network.hpp"

#include <charconv>

namespace datum::loop {

static std::optional<std::uint16_t> find_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, port);
  if (result.ec != std::errc() || result.ptr != end || port == 0 || text.front() == '0')
    return std::nullopt;
  return port;
}

static bool is_host(std::string_view text, bool in_brackets) {
  if (text.empty() || text.size() > 253) return false;  // of a DNS name
  for (const char c : text) {
    const bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                         (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
    if (!is_word && !(in_brackets && (c == ':' || c == '%'))) return false;
  }
  return true;
}

std::string to_string(const Address& address) {
  const bool is_ipv6 = address.host.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

std::optional<Address> find_address(std::string_view text) {
  const bool in_brackets = text.starts_with('[');
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == text.size()) return std::nullopt;
  auto host = text.substr(0, colon);
  if (in_brackets) {
    if (!host.ends_with(']')) return std::nullopt;
    host = host.substr(1, host.size() - 2);
  }
  const auto port = find_port(text.substr(colon + 1));
  if (!port || !is_host(host, in_brackets)) return std::nullopt;
  return Address{std::string(host), *port};
}

}  // namespace datum::loop
