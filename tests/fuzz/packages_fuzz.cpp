// Any bytes → dpkg's database, apt's words and versions: nothing crashes, what is believed can be
// found again, and the order of versions is one. The first NUL divides status from updates.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "datum/base/assert.hpp"
#include "datum/os/apt.hpp"

namespace {
using namespace datum;
using namespace datum::os;

void check_book(std::string_view bytes) {
  const auto cut = std::min(bytes.find('\0'), bytes.size());
  std::vector<std::string> updates;
  if (cut < bytes.size()) updates.emplace_back(bytes.substr(cut + 1));
  const auto book = PackageBook::parse(std::string(bytes.substr(0, cut)), std::move(updates));
  if (!book) {
    DATUM_ASSERT(book.error().code() == ErrorCode::corrupt);
    return;
  }
  for (const auto& package : book->packages()) {
    const auto name = std::string(package.name) + ":" + std::string(package.architecture);
    const auto* found = book->find(name);
    DATUM_ASSERT(found != nullptr && found->name == package.name);
    DATUM_ASSERT(!is_interrupted(package) || is_present(package));
  }
}

void check_versions(std::string_view bytes) {
  const auto cut = std::min(bytes.find('\n'), bytes.size());
  const auto left = bytes.substr(0, cut);
  const auto right = bytes.substr(std::min(cut + 1, bytes.size()));
  DATUM_ASSERT(compare_debian_versions(left, left) == 0);
  DATUM_ASSERT(compare_debian_versions(left, right) == -compare_debian_versions(right, left));
}

void check_words(std::string_view bytes) {
  const auto seen = read_simulation(bytes, false, "amd64");
  DATUM_ASSERT(!seen.refusal.empty());
  const auto about = output_about(bytes, "a", 64);
  DATUM_ASSERT(about.size() <= 64);
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_book(bytes);
  check_versions(bytes);
  check_words(bytes);
  return 0;
}
