// Bytes of a YAML file → trees with positions, under the strict rules of desired-state documents:
// no anchors, aliases, tags, directives or duplicate keys, and every faulty document of a file is
// reported. Owns the reading of YAML and nothing else: it knows no key, no type of a field and no
// file system, and it applies no schema. Scalars keep their written form; `scalar.hpp` types them.
//
// Pure and free of shared state: any function may run on any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace datum::yaml {

// One document may be this large; libyaml holds it in tokens of about 100 bytes each, so that more
// would let one file claim gigabytes. The same bound holds for its tree.
inline constexpr std::size_t kMaxDocumentBytes = 16U << 20U;
// Sequences and mappings inside one another. libyaml's work grows with the square of the depth, and
// no document type of Datum goes deeper than eight.
inline constexpr std::uint32_t kMaxDepth = 32;
// Parser events of one document: about 50,000 keys or values.
inline constexpr std::uint32_t kMaxEvents = 100'000;
// Faults listed for one call of `parse`, at most ten a document; when they are nearly full a last
// one says how many documents were not read. Nobody reads more, and a file of nothing but `---`
// lines must not fill the memory.
inline constexpr std::size_t kMaxDiagnostics = 1'000;

// A place in a file: both from 1, the column in characters (code points). 0 means "the whole file".
struct Position {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  auto operator<=>(const Position&) const = default;
};

// A fault that a person must mend. `message` is one line without position; `hint`, when not empty,
// is the corrected line or what to write instead.
struct Diagnostic {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string message;
  std::string hint;
};
// "file:line:column: message" and, indented on a line of its own, the hint. No newline at the end.
[[nodiscard]] std::string to_string(const Diagnostic& diagnostic);

enum class Kind : std::uint8_t { scalar, sequence, mapping };
[[nodiscard]] std::string_view to_string(Kind kind);  // "scalar", "list", "mapping"
enum class Style : std::uint8_t { plain, single_quoted, double_quoted, literal, folded };

struct Entry;

// A value: 24 bytes, copied freely. Text, items and entries are borrowed from the `Parsed` that it
// came from and end with it.
class Node {
 public:
  Node() = default;
  Node(std::string_view text, Style style, Position at);
  Node(std::span<const Node> items, Position at);
  Node(std::span<const Entry> entries, Position at);

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] bool is_scalar() const { return kind_ == Kind::scalar; }
  [[nodiscard]] bool is_sequence() const { return kind_ == Kind::sequence; }
  [[nodiscard]] bool is_mapping() const { return kind_ == Kind::mapping; }
  // Where the value begins. Of an empty value: where it would begin.
  [[nodiscard]] Position at() const { return at_; }

  // Of a scalar: how it was written, and its text with quotes, escapes and folding resolved: valid
  // UTF-8, which by an escape ("\0") may hold control characters. Empty for anything else.
  [[nodiscard]] Style style() const { return style_; }
  [[nodiscard]] std::string_view text() const;
  // Of a sequence, in order; empty for anything else.
  [[nodiscard]] std::span<const Node> items() const;
  // Of a mapping, in order; keys are scalars and distinct. Empty for anything else.
  [[nodiscard]] std::span<const Entry> entries() const;
  // The value of that key; nullptr if there is none or this is no mapping. Linear.
  [[nodiscard]] const Node* find(std::string_view key) const;

 private:
  const void* data_ = "";
  std::uint32_t size_ = 0;
  Position at_;
  Kind kind_ = Kind::scalar;
  Style style_ = Style::plain;
};

struct Entry {
  Node key;  // a scalar; `at()` is the key's own place
  Node value;
};

struct Document {
  Position at;  // of its first value
  Node root;
};

struct Options {
  // A null value (`key:`, `~`, `null`) is refused in words unless this is set.
  bool allow_nulls = false;
  // A file without any document is refused unless this is set.
  bool allow_empty_file = false;
  // Sound files are read in one walk; each document on its own only after a fault. With this, from
  // the start: slower, with the same result, to compare with.
  bool one_by_one = false;
};

class Arena;

// What a file holds: every sound document in order, and every fault. Movable; moving keeps all
// nodes valid. Input bytes are not borrowed.
struct Parsed {
  Parsed();
  ~Parsed();
  Parsed(Parsed&&) noexcept;
  Parsed& operator=(Parsed&&) noexcept;

  std::vector<Document> documents;
  std::vector<Diagnostic> diagnostics;  // in order of position; empty if all documents are sound
  std::unique_ptr<Arena> arena;         // owns what the nodes point at
};

// Reads all documents of one file. `file` is only repeated in diagnostics. A faulty document yields
// at least one diagnostic and no Document; reading goes on with the next. Time grows linearly with
// the size: about 20 ms a MiB.
[[nodiscard]] Parsed parse(std::string_view file, std::string_view bytes, Options options = {});

// The same in two steps, for a caller that spreads one large file over threads: any division of the
// slices into runs gives the same documents and faults (up to kMaxDiagnostics a run).
enum class SliceContent : std::uint8_t {
  document,
  empty_document,  // nothing but blank lines and comments: refused
  margin,          // the same before the first or after the last `---`: holds no document
  empty_file,      // the same, and the file holds nothing else
};
struct Slice {
  std::string_view bytes;        // borrowed; begins with its `---` line, if it has one
  std::uint32_t first_line = 1;  // of the file, from 1
  std::uint32_t line_count = 1;  // a last line without newline counts
  SliceContent content = SliceContent::document;
};
// At every `---` in column 0. The slices follow one another and cover all bytes.
[[nodiscard]] std::vector<Slice> split(std::string_view bytes);
[[nodiscard]] Parsed parse_slices(std::string_view file, std::span<const Slice> slices,
                                  Options options = {});

// Whether `bytes` are YAML at all, for files of other programs: anchors, tags, directives, any
// encoding and any number of documents are allowed, nothing is kept. The first fault, with an empty
// file name (line 0: no place is known); nullopt if there is none. Up to 64 MiB and 256 levels.
[[nodiscard]] std::optional<Diagnostic> find_syntax_fault(std::string_view bytes);

}  // namespace datum::yaml
