// The order of the work on one file: scan, limits, one document at a time, faults in order.
#include <algorithm>
#include <utility>

#include "arena.hpp"
#include "datum/yaml/yaml.hpp"
#include "document_reader.hpp"
#include "scan.hpp"

namespace datum::yaml {

Parsed::Parsed() : arena(std::make_unique<Arena>()) {}
Parsed::~Parsed() = default;
Parsed::Parsed(Parsed&&) noexcept = default;
Parsed& Parsed::operator=(Parsed&&) noexcept = default;

namespace {

// A fault that is found before libyaml sees the slice.
std::optional<Diagnostic> find_early_fault(std::string_view file, const Slice& slice,
                                           Options options) {
  const auto at_start = [&](std::string message, std::string hint) {
    return Diagnostic{std::string(file), slice.first_line, 1, std::move(message), std::move(hint)};
  };
  if (slice.bytes.size() > kMaxDocumentBytes)
    return at_start("this document is larger than 16 MiB", "split it into several documents");
  if (auto fault = find_byte_fault(slice.bytes)) {
    const auto at = position_of(slice.bytes, fault->offset, slice.first_line);
    return Diagnostic{std::string(file), at.line, at.column, std::move(fault->message),
                      std::move(fault->hint)};
  }
  if (slice.content == SliceContent::empty_document)
    return at_start("an empty document is not allowed", "remove one of the --- lines around it");
  if (slice.content == SliceContent::empty_file && !options.allow_empty_file)
    return Diagnostic{std::string(file), 0, 0, "the file holds no document", ""};
  return std::nullopt;
}

// Whether one more document could fill the list and leave no room for the line that says so.
bool is_full(const std::vector<Diagnostic>& diagnostics) {
  return diagnostics.size() + kMaxFaultsPerDocument + 1 > kMaxDiagnostics;
}

// The slices that hold documents, if there is nothing else between the margins and nothing was
// found wrong yet.
std::span<const Slice> documents_alone(std::string_view file, std::span<const Slice> slices,
                                       Options options) {
  for (const auto& slice : slices)
    if (find_early_fault(file, slice, options)) return {};
  const auto is_margin = [](const Slice& slice) { return slice.content == SliceContent::margin; };
  if (!slices.empty() && is_margin(slices.front())) slices = slices.subspan(1);
  if (!slices.empty() && is_margin(slices.back())) slices = slices.first(slices.size() - 1);
  const char* end = slices.empty() ? nullptr : slices.front().bytes.data();
  for (const auto& slice : slices) {
    if (slice.content != SliceContent::document || slice.bytes.data() != end) return {};
    end += slice.bytes.size();
  }
  return slices;
}

}  // namespace

Parsed parse_slices(std::string_view file, std::span<const Slice> slices, Options options) {
  Parsed parsed;
  DocumentReader reader(file, *parsed.arena, parsed.diagnostics, options);
  // Where a null begins that no text stands for depends on what follows the document.
  if (!options.one_by_one && !options.allow_nulls) {
    const auto sound = documents_alone(file, slices, options);
    if (!sound.empty() && reader.read_at_once(sound, parsed.documents)) return parsed;
    parsed.documents.clear();
    parsed.diagnostics.clear();
  }
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const auto& slice = slices[i];
    if (is_full(parsed.diagnostics)) {
      const auto left = std::to_string(slices.size() - i);
      parsed.diagnostics.push_back(
          {std::string(file), slice.first_line, 1,
           "too many faults: " + left + " documents from here on were not read", ""});
      break;
    }
    if (auto fault = find_early_fault(file, slice, options)) {
      parsed.diagnostics.push_back(std::move(*fault));
    } else if (slice.content == SliceContent::document) {
      const auto first_fault = parsed.diagnostics.size();
      if (auto document = reader.read(slice)) parsed.documents.push_back(*document);
      std::stable_sort(parsed.diagnostics.begin() + static_cast<std::ptrdiff_t>(first_fault),
                       parsed.diagnostics.end(), [](const Diagnostic& a, const Diagnostic& b) {
                         return std::pair(a.line, a.column) < std::pair(b.line, b.column);
                       });
    }
  }
  return parsed;
}

Parsed parse(std::string_view file, std::string_view bytes, Options options) {
  const auto slices = split(bytes);
  return parse_slices(file, slices, options);
}

}  // namespace datum::yaml
