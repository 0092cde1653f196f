#include "document_reader.hpp"

#include <algorithm>

#include "corrected_line.hpp"
#include "datum/base/assert.hpp"
#include "datum/yaml/scalar.hpp"
#include "event_source.hpp"

namespace datum::yaml {
namespace {

Style style_of(yaml_scalar_style_t style) {
  switch (style) {
    case YAML_SINGLE_QUOTED_SCALAR_STYLE:
      return Style::single_quoted;
    case YAML_DOUBLE_QUOTED_SCALAR_STYLE:
      return Style::double_quoted;
    case YAML_LITERAL_SCALAR_STYLE:
      return Style::literal;
    case YAML_FOLDED_SCALAR_STYLE:
      return Style::folded;
    default:
      return Style::plain;
  }
}

std::string describe(Position at) {
  return "line " + std::to_string(at.line) + ", column " + std::to_string(at.column);
}

// Keys are shown in faults, and may be as long as a document.
std::string shown(std::string_view key) {
  constexpr std::size_t kShown = 64;  // a name of Datum's own keys is far shorter
  auto cut = key.substr(0, kShown);
  while (cut.size() < key.size() && !cut.empty() &&
         (static_cast<unsigned char>(key[cut.size()]) & 0xC0U) == 0x80U)
    cut.remove_suffix(1);
  return quoted(cut) + (cut.size() < key.size() ? "…" : "");
}

}  // namespace

void DocumentReader::begin(std::string_view bytes, std::uint32_t first_line,
                           std::uint32_t line_count) {
  bytes_ = bytes;
  first_line_ = first_line;
  line_count_ = std::max(1U, line_count);
  events_ = 0;
  faults_ = 0;
  has_document_ = false;
  blocks_.clear();
  next_block_ = 0;
  frames_.clear();
  pending_.clear();
}

std::optional<Document> DocumentReader::read(const Slice& slice) {
  begin(slice.bytes, slice.first_line, slice.line_count);
  EventSource source(bytes_);
  while (true) {
    if (!source.next()) {
      report_complaint(source.parser());
      return std::nullopt;
    }
    if (take_event(source.event()) == Step::stop || faults_ >= kMaxFaultsPerDocument) break;
  }
  if (faults_ > 0) return std::nullopt;
  return end_document();
}

Document DocumentReader::end_document() {
  DATUM_ASSERT(frames_.empty() && pending_.size() == 1);
  const Document document{pending_.front().at(), pending_.front()};
  pending_.clear();
  has_document_ = false;
  events_ = 1;  // the next one begins as after the start of a stream
  return document;
}

bool DocumentReader::read_at_once(std::span<const Slice> slices, std::vector<Document>& documents) {
  const auto* const start = slices.front().bytes.data();
  const auto& last = slices.back();
  const auto size = static_cast<std::size_t>(last.bytes.data() + last.bytes.size() - start);
  const auto first_line = slices.front().first_line;
  begin({start, size}, first_line, last.first_line + last.line_count - first_line);
  auto shortened = take_out_blocks(bytes_);
  blocks_ = std::move(shortened.blocks);

  EventSource source(shortened.text);
  std::size_t done = 0;
  for (;;) {
    if (!source.next()) return false;
    const auto& event = source.event();
    if (event.type == YAML_STREAM_END_EVENT) break;
    if (event.type == YAML_DOCUMENT_START_EVENT) {
      if (done == slices.size()) return false;
      const auto from = slices[done].first_line - first_line;
      const auto line = event.start_mark.line;
      if (line < from || line - from >= slices[done].line_count) return false;
    }
    if (take_event(event) == Step::stop || faults_ > 0) return false;
    if (event.type != YAML_DOCUMENT_END_EVENT) continue;
    if (events_ == kMaxEvents) return false;  // alone, it would count the end of its stream too
    documents.push_back(end_document());
    ++done;
  }
  // A block that was no block of its own has changed some other text.
  return done == slices.size() && next_block_ == blocks_.size();
}

DocumentReader::Step DocumentReader::take_event(const yaml_event_t& event) {
  if (++events_ > kMaxEvents) {
    report(position(event.start_mark),
           "this document holds more than " + std::to_string(kMaxEvents) + " parser events",
           "split it into several documents");
    return Step::stop;
  }
  switch (event.type) {
    case YAML_DOCUMENT_START_EVENT:
      return begin_document(event);
    case YAML_MAPPING_START_EVENT:
      return begin_collection(event, Kind::mapping);
    case YAML_SEQUENCE_START_EVENT:
      return begin_collection(event, Kind::sequence);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
      end_collection();
      return Step::go_on;
    case YAML_SCALAR_EVENT:
      take_scalar(event);
      return Step::go_on;
    case YAML_ALIAS_EVENT:
      take_alias(event);
      return Step::go_on;
    case YAML_STREAM_END_EVENT:
      if (!has_document_) report({first_line_, 1}, "an empty document is not allowed");
      return Step::stop;
    default:
      return Step::go_on;
  }
}

DocumentReader::Step DocumentReader::begin_document(const yaml_event_t& event) {
  const auto& start = event.data.document_start;
  const auto at = position(event.start_mark);
  if (start.version_directive != nullptr ||
      start.tag_directives.start != start.tag_directives.end) {
    report(at, "directives are not allowed");
    return Step::stop;
  }
  if (has_document_) {
    report(at, "only --- begins another document", "replace the ... above by ---");
    return Step::stop;
  }
  has_document_ = true;
  return Step::go_on;
}

DocumentReader::Step DocumentReader::begin_collection(const yaml_event_t& event, Kind kind) {
  const auto at = position(event.start_mark);
  const bool mapping = kind == Kind::mapping;
  const bool flow = mapping ? event.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE
                            : event.data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
  if (mapping && flow && is_at_key() && frames_.back().flow) {
    const auto outer = frames_.back().at;
    if (outer.line == at.line && outer.column + 1 == at.column) {
      auto found = explain_braces({outer.line - first_line_, outer.column - 1U}, bytes_);
      report(outer, std::move(found.message), std::move(found.hint));
      return Step::stop;
    }
  }
  if (frames_.size() == kMaxDepth) {
    report(at, "this is nested deeper than " + std::to_string(kMaxDepth) + " levels");
    return Step::stop;
  }
  if (mapping) {
    check_properties(event.data.mapping_start.anchor, event.data.mapping_start.tag, at);
  } else {
    check_properties(event.data.sequence_start.anchor, event.data.sequence_start.tag, at);
  }
  frames_.push_back({kind, flow, at, pending_.size()});
  return Step::go_on;
}

void DocumentReader::end_collection() {
  const auto frame = frames_.back();
  frames_.pop_back();
  const auto children = std::span<const Node>(pending_).subspan(frame.first_child);
  Node node;
  if (frame.kind == Kind::sequence) {
    for (const auto& item : children) check_value(item, nullptr);
    node = Node(arena_.copy(children), frame.at);
  } else {
    entries_.clear();
    for (std::size_t i = 0; i + 1 < children.size(); i += 2) {
      check_value(children[i + 1], &children[i]);
      entries_.push_back({children[i], children[i + 1]});
    }
    check_duplicates(entries_);
    node = Node(arena_.copy(std::span<const Entry>(entries_)), frame.at);
  }
  pending_.resize(frame.first_child);
  if (is_at_key()) check_key(node, frame.at);
  pending_.push_back(node);
}

void DocumentReader::take_scalar(const yaml_event_t& event) {
  const auto& scalar = event.data.scalar;
  const auto at = position(event.start_mark);
  check_properties(scalar.anchor, scalar.tag, at);
  const Node node(text_of_scalar(event), style_of(scalar.style), at);
  if (is_at_key()) check_key(node, at);
  if (frames_.empty()) check_value(node, nullptr);
  pending_.push_back(node);
}

// Its own, or that of the block in whose place it stands.
std::string_view DocumentReader::text_of_scalar(const yaml_event_t& event) {
  const auto& scalar = event.data.scalar;
  const std::string_view text(reinterpret_cast<const char*>(scalar.value), scalar.length);
  if (next_block_ == blocks_.size()) return arena_.copy(text);
  const auto& block = blocks_[next_block_];
  const bool stands_in = event.start_mark.line == block.line &&
                         event.start_mark.column == block.column &&
                         scalar.style == YAML_LITERAL_SCALAR_STYLE && text == kStandIn;
  if (!stands_in) return arena_.copy(text);
  ++next_block_;
  return arena_.make(text_size(block), [&block](char* out) { write_text(block, out); });
}

void DocumentReader::take_alias(const yaml_event_t& event) {
  const auto at = position(event.start_mark);
  const auto line = line_text(bytes_, event.start_mark.line);
  report(at, "aliases are not allowed; a value that begins with * must be quoted",
         quote_value(line, byte_of_column(line, event.start_mark.column)));
  pending_.emplace_back("*", Style::single_quoted, at);  // stands in, so that reading can go on
}

void DocumentReader::check_properties(const yaml_char_t* anchor, const yaml_char_t* tag,
                                      Position at) {
  if (anchor != nullptr)
    report(at, "anchors are not allowed; a value that begins with & must be quoted");
  if (tag != nullptr) report(at, "tags are not allowed; a value that begins with ! must be quoted");
}

bool DocumentReader::is_at_key() const {
  return !frames_.empty() && frames_.back().kind == Kind::mapping &&
         (pending_.size() - frames_.back().first_child) % 2 == 0;
}

void DocumentReader::check_key(const Node& key, Position at) {
  if (!key.is_scalar()) {
    report(at, "a key must be plain text, not a " + std::string(to_string(key.kind())));
  } else if (key.style() == Style::plain && key.text().empty()) {
    report(at, "a key is missing before ':'");
  }
}

void DocumentReader::check_value(const Node& value, const Node* key) {
  if (options_.allow_nulls || !is_null(value)) return;
  if (key != nullptr && key->is_scalar()) {
    report(key->at(), shown(key->text()) + " has no value",
           "give it one, leave the key out, or write \"\" for an empty text");
  } else {
    report(value.at(), "a value is missing (null is not allowed)",
           "give one, or write \"\" for an empty text");
  }
}

void DocumentReader::check_duplicates(std::span<const Entry> entries) {
  order_.clear();
  for (const auto& entry : entries) order_.push_back(&entry);
  const auto by_text = [](const Entry* a, const Entry* b) { return a->key.text() < b->key.text(); };
  std::stable_sort(order_.begin(), order_.end(), by_text);
  for (std::size_t i = 1; i < order_.size(); ++i) {
    const auto& first = order_[i - 1]->key;
    const auto& second = order_[i]->key;
    if (first.text() != second.text() || !first.is_scalar() || !second.is_scalar()) continue;
    report(second.at(),
           "the key " + shown(second.text()) + " stands twice: first at " + describe(first.at()));
  }
}

void DocumentReader::report_complaint(const yaml_parser_t& parser) {
  if (parser.error == YAML_MEMORY_ERROR || parser.error == YAML_NO_ERROR) {
    report({first_line_, 1}, "no memory left to read this document");
    return;
  }
  if (parser.error == YAML_READER_ERROR) {
    report({first_line_, 1}, std::string("not readable: ") + std::string(text_of(parser.problem)));
    return;
  }
  std::optional<Mark> open_flow;
  if (!frames_.empty() && frames_.back().flow)
    open_flow = {frames_.back().at.line - first_line_, frames_.back().at.column - 1U};
  auto complaint = complaint_of(parser);
  complaint.open_flow = open_flow;
  const auto found = explain(complaint, bytes_);
  report(position(found.mark), found.message, found.hint);
}

void DocumentReader::report(Position at, std::string message, std::string hint) {
  if (++faults_ > kMaxFaultsPerDocument) return;
  if (hint.size() > kMaxHintBytes) hint.clear();
  diagnostics_.push_back(
      {std::string(file_), at.line, at.column, std::move(message), std::move(hint)});
}

Position DocumentReader::position(Mark mark) const {
  if (mark.line >= line_count_) {
    mark.line = line_count_ - 1U;
    mark.column = character_count(line_text(bytes_, mark.line));
  }
  return {first_line_ + static_cast<std::uint32_t>(mark.line),
          static_cast<std::uint32_t>(mark.column) + 1};
}

}  // namespace datum::yaml
