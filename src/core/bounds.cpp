// Cutting texts to what a record may hold.
#include "bounds.hpp"

namespace datum::core {

std::string bounded(std::string_view text, std::size_t limit) {
  static constexpr std::string_view kCut = "…";
  if (text.size() <= limit) return std::string(text);
  std::size_t end = limit > kCut.size() ? limit - kCut.size() : 0;
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  while (end > 0 && continues(text[end])) --end;
  return std::string(text.substr(0, end)).append(kCut);
}

}  // namespace datum::core
