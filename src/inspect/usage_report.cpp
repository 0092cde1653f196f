#include "datum/inspect/usage_report.hpp"

#include "datum/text/human.hpp"
#include "datum/text/json_writer.hpp"
#include "words.hpp"

namespace datum::inspect {
namespace {

std::string usage_row(std::string_view name, const std::string& value) {
  return pad(name, 9) + " " + value + "\n";
}

std::string range(Seq from, Seq to) {
  return std::to_string(from) + " to " + std::to_string(to);
}

std::uint64_t bytes_of(const std::vector<journal::ArchiveFile>& files) {
  std::uint64_t bytes = 0;
  for (const auto& file : files) bytes += file.bytes;
  return bytes;
}

Seq records_of(const std::vector<journal::ArchiveFile>& files) {
  Seq records = 0;
  for (const auto& file : files) records += file.to - file.from + 1;
  return records;
}

void write_files(text::JsonWriter& json, const std::vector<journal::ArchiveFile>& files) {
  json.begin_array();
  for (const auto& file : files)
    json.begin_object()
        .member("file", file.name)
        .member("from", file.from)
        .member("to", file.to)
        .member("bytes", file.bytes)
        .end_object();
  json.end_array();
}

}  // namespace

std::string usage_text(const StoreUsage& usage) {
  std::string text = usage_row(
      "Store", usage.store.hex() + " in " + usage.path + ", level " + std::to_string(usage.level));
  const Seq count = usage.head == 0 ? 0 : usage.head - usage.first + 1;
  std::string records = text::format_count(count, "record");
  if (count != 0)
    records += ", " + range(usage.first, usage.head) + ", from " +
               text::format_rfc3339(usage.first_time) + " to " +
               text::format_rfc3339(usage.head_time);
  text += usage_row("Records", records);
  text += usage_row("Journal", text::format_size(usage.journal.file_bytes) + ", of which " +
                                   text::format_size(usage.journal.live_bytes) + " are in use");
  std::string archive = "empty";
  if (!usage.files.empty())
    archive = text::format_count(usage.files.size(), "file") + ", " +
              text::format_size(bytes_of(usage.files)) + ", records " +
              range(usage.files.front().from, usage.files.back().to);
  if (!usage.strays.empty()) {
    archive += "; no part of it:";
    for (const auto& name : usage.strays) archive += " " + name;
  }
  text += usage_row("Archive", archive);
  text += usage_row("Blobs", text::format_size(usage.blob_bytes));
  return text;
}

std::string usage_json(const StoreUsage& usage) {
  text::JsonWriter json;
  json.begin_object()
      .member("path", usage.path)
      .member("store", usage.store.hex())
      .member("level", usage.level)
      .member("records", usage.head == 0 ? Seq{0} : usage.head - usage.first + 1)
      .member("first", usage.first)
      .member("head", usage.head)
      .member("firstTime", usage.head == 0 ? "" : text::format_rfc3339(usage.first_time))
      .member("headTime", usage.head == 0 ? "" : text::format_rfc3339(usage.head_time))
      .member("journalBytes", usage.journal.file_bytes)
      .member("liveBytes", usage.journal.live_bytes)
      .member("blobBytes", usage.blob_bytes)
      .key("archive");
  write_files(json, usage.files);
  json.key("strays").begin_array();
  for (const auto& name : usage.strays) json.value(name);
  json.end_array().end_object();
  return json.take() + "\n";
}

std::string archive_text(const ArchiveReport& report) {
  std::string text;
  if (report.files.empty()) {
    text = "Nothing is due: no record was archived.\n";
  } else {
    for (const auto& file : report.files)
      text += "Archived: records " + range(file.from, file.to) + " in " + file.name + ", " +
              text::format_size(file.bytes) + "\n";
    text += text::format_count(records_of(report.files), "record") +
            " left the journal; blobs of " + text::format_size(report.blob_bytes_freed) +
            " that only they named are gone.\n";
  }
  if (report.compacted_bytes != 0)
    text += "Compacted: " + text::format_size(report.journal_bytes) + " became " +
            text::format_size(report.compacted_bytes) + ".\n";
  return text;
}

std::string archive_json(const ArchiveReport& report) {
  text::JsonWriter json;
  json.begin_object().member("records", records_of(report.files)).key("files");
  write_files(json, report.files);
  json.member("blobBytesFreed", report.blob_bytes_freed)
      .member("journalBytes", report.journal_bytes)
      .member("compactedBytes", report.compacted_bytes)
      .end_object();
  return json.take() + "\n";
}

}  // namespace datum::inspect
