// What this program is, in a note of its file: whoever has the file can read the version without
// running it, be it a shell script that finds nothing but crashes, or a pass that must not run what
// it looks at. docs/formats/release.md is the same in words.
#include "version_mark.hpp"

#include <cstdint>

#include "datum_version.hpp"

namespace datum::program {
namespace {

#define DATUM_MARK_TEXT "datum-version=" DATUM_VERSION " (" DATUM_COMMIT ")\ndatum-level=1\n"

// As elf(5) lays out a note.
struct VersionNote {
  std::uint32_t name_size, text_size, type;
  char name[8];
  char text[sizeof(DATUM_MARK_TEXT)];
};

[[gnu::section(".note.datum"), gnu::used]] alignas(4) const VersionNote kNote = {
    sizeof("Datum"), sizeof(DATUM_MARK_TEXT), 1, "Datum", DATUM_MARK_TEXT};

}  // namespace

// The program itself says what its file says: there are no two places that could differ. A compiler
// that knew the text here would write a second copy of it into whatever asks.
std::string_view version_mark() {
  const char* text = kNote.text;
  asm("" : "+r"(text));
  return text;
}

}  // namespace datum::program
