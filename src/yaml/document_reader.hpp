// One slice → one document: libyaml's events made into nodes, and what the rules forbid made into
// diagnostics. The only file beside its source that knows libyaml.
#pragma once

#include <yaml.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arena.hpp"
#include "datum/yaml/yaml.hpp"
#include "explain.hpp"
#include "literal_blocks.hpp"

namespace datum::yaml {

// After so many faults the rest of a document is not read: what follows is mostly their echo, a
// hint costs a search through the document, and one document must not push the others out of the
// list.
inline constexpr std::size_t kMaxFaultsPerDocument = 10;

class DocumentReader {
 public:
  // All is borrowed for the reader's life. Nodes go into `arena`.
  DocumentReader(std::string_view file, Arena& arena, std::vector<Diagnostic>& diagnostics,
                 Options options)
      : file_(file), arena_(arena), diagnostics_(diagnostics), options_(options) {}

  // The document of `slice`, or nullopt and at least one diagnostic more. Bytes were scanned
  // before.
  [[nodiscard]] std::optional<Document> read(const Slice& slice);
  // All documents of slices that follow one another and hold one each, in one walk of libyaml
  // without their long blocks. False if anything about them is wrong or unusual: then `documents`
  // and the diagnostics hold what is to be thrown away, and `read` tells each fault in full.
  [[nodiscard]] bool read_at_once(std::span<const Slice> slices, std::vector<Document>& documents);

 private:
  struct Frame {
    Kind kind;
    bool flow;
    Position at;
    std::size_t first_child;  // index in `pending_`
  };
  enum class Step : bool { go_on, stop };

  // Each event; `stop` ends the document, as its end or after a fault that leaves no way on.
  Step take_event(const yaml_event_t& event);
  Step begin_document(const yaml_event_t& event);
  Step begin_collection(const yaml_event_t& event, Kind kind);
  void end_collection();
  void begin(std::string_view bytes, std::uint32_t first_line, std::uint32_t line_count);
  // A document of `slice` has ended.
  [[nodiscard]] Document end_document();
  void take_scalar(const yaml_event_t& event);
  [[nodiscard]] std::string_view text_of_scalar(const yaml_event_t& event);
  void take_alias(const yaml_event_t& event);
  void check_properties(const yaml_char_t* anchor, const yaml_char_t* tag, Position at);

  [[nodiscard]] bool is_at_key() const;
  void check_key(const Node& key, Position at);
  void check_value(const Node& value, const Node* key);
  void check_duplicates(std::span<const Entry> entries);
  void report_complaint(const yaml_parser_t& parser);
  void report(Position at, std::string message, std::string hint = {});
  // In the file. libyaml puts what is missing at the end of a document on a line after the last;
  // here it stands at the end of the last one.
  [[nodiscard]] Position position(Mark mark) const;
  [[nodiscard]] Position position(const yaml_mark_t& mark) const {
    return position(Mark{mark.line, mark.column});
  }

  std::string_view file_;
  Arena& arena_;
  std::vector<Diagnostic>& diagnostics_;
  Options options_;

  std::string_view bytes_;  // of the slice
  std::uint32_t first_line_ = 1;
  std::uint32_t line_count_ = 1;
  std::uint32_t events_ = 0;
  std::size_t faults_ = 0;
  bool has_document_ = false;
  std::vector<LiteralBlock> blocks_;  // that were taken out
  std::size_t next_block_ = 0;
  std::vector<Frame> frames_;        // kept between documents for their memory
  std::vector<Node> pending_;        // children of the open frames, then the root
  std::vector<Entry> entries_;       // the mapping that is being closed
  std::vector<const Entry*> order_;  // for the search for duplicate keys
};

}  // namespace datum::yaml
