#include "content_differences.hpp"

#include <algorithm>

#include "datum/os/walk.hpp"
#include "datum/text/diff.hpp"
#include "datum/text/human.hpp"
#include "datum/text/terminal.hpp"

namespace datum::program {

namespace {

// All of a stream, or `limit_exceeded` beyond what a diff shows.
template <class Read>
Result<std::string> read_all(Read read) {
  std::string text;
  Bytes buffer(64 * 1024);
  for (;;) {
    auto size = read(MutableByteView(buffer));
    if (!size) return fail(std::move(size).error());
    if (*size == 0) return text;
    text.append(as_text(ByteView(buffer).first(*size)));
    if (text.size() > text::kMaxDiffBytes)
      return fail(ErrorCode::limit_exceeded,
                  "larger than " + text::format_size(text::kMaxDiffBytes));
  }
}

Result<std::string> read_present(const resource::Machine& machine, const std::string& path) {
  os::Walker walker(*machine.files, *machine.root, machine.trusted_uid);
  DATUM_ASSIGN(const auto location, walker.locate(path));
  DATUM_ASSIGN(const auto file,
               machine.files->open_file(location.folder->handle, location.name, os::Access::read));
  return read_all([&](MutableByteView out) { return machine.files->read(file, out); });
}

Result<std::string> read_declared(const resource::Machine& machine, const model::Content& content) {
  if (content.has_bytes) return content.bytes;
  DATUM_ASSIGN(const auto source, machine.content->open(content.digest));
  return read_all([&source](MutableByteView out) { return source->read(out); });
}

bool drifts_in_content(const core::Observation& observation) {
  return std::any_of(observation.drifts.begin(), observation.drifts.end(),
                     [](const auto& drift) { return drift.field == "content"; });
}

std::string difference(const resource::Machine& machine, const model::Resource& resource,
                       const std::string& path) {
  const auto* content = resource.content();
  const auto before = read_present(machine, path);
  const auto after = read_declared(machine, *content);
  if (!before || !after) {
    const auto& error = before ? after.error() : before.error();
    return text::escape(path) + ": no text difference: " + text::escape(error.message()) + "\n";
  }
  const auto diff = text::diff(*before, *after, {path + " (now)", path + " (declared)"});
  if (diff.kind == text::DiffKind::binary)
    return text::escape(path) + ": binary, " + text::format_size(before->size()) + " -> " +
           text::format_size(after->size()) + ", sha256:" + content->digest.hex() + "\n";
  return text::escape_lines(diff.text);
}

}  // namespace

std::string content_differences(const resource::Machine& machine, const model::Manifest& manifest,
                                std::span<const core::Observation> observations) {
  std::string text;
  for (const auto& observation : observations) {
    if (observation.found != core::Found::file || !drifts_in_content(observation)) continue;
    const auto* resource = manifest.find(observation.reference);
    if (resource == nullptr || resource->content() == nullptr) continue;
    if (observation.sensitive || resource->sensitive() || resource->content()->has_secrets ||
        !resource->content()->secret.empty())
      continue;  // the report says that it differs; what it holds is nobody's
    text += difference(machine, *resource, observation.target.name);
  }
  return text;
}

}  // namespace datum::program
