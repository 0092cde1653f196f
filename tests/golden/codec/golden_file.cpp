#include "golden_file.hpp"

#include <cctype>
#include <fstream>
#include <sstream>

namespace datum::test {

std::string to_golden(ByteView bytes) {
  constexpr std::size_t kLine = 32;
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += kLine)
    text += to_hex(bytes.subspan(at, std::min(kLine, bytes.size() - at))) + "\n";
  return text;
}

Result<Bytes> from_golden(const std::string& text) {
  Bytes bytes;
  std::string digits;
  for (const char letter : text) {
    if (letter == '\n') continue;
    if (std::isxdigit(static_cast<unsigned char>(letter)) == 0)
      return fail(ErrorCode::corrupt, "no hexadecimal digit");
    digits += letter;
    if (digits.size() < 2) continue;
    bytes.push_back(static_cast<std::byte>(std::stoi(digits, nullptr, 16)));
    digits.clear();
  }
  if (!digits.empty()) return fail(ErrorCode::corrupt, "half a byte");
  return bytes;
}

Result<Bytes> read_golden(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(ErrorCode::not_found, path);
  std::ostringstream text;
  text << file.rdbuf();
  return from_golden(text.str());
}

}  // namespace datum::test
