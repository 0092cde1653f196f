// Typed reading of YAML nodes with faults at their places: the small set of questions that all
// document types ask. Private to the module; one Reader per file and thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datum/model/descriptor.hpp"
#include "datum/yaml/scalar.hpp"
#include "datum/yaml/yaml.hpp"
#include "documents.hpp"

namespace datum::fleet {

// The one version of the document model that this program reads.
inline constexpr std::string_view kVersion = "v1alpha1";

// Lists of documents (references, labels, globs …): more than anybody writes by hand.
inline constexpr std::size_t kMaxItems = 10'000;

class Reader {
 public:
  Reader(FileId file, Read& out) : file_(file), out_(out) {}

  void fault(yaml::Position at, std::string message, std::string hint = {});
  [[nodiscard]] Place place(yaml::Position at) const { return {file_, at.line, at.column}; }
  [[nodiscard]] Read& out() { return out_; }

  // Each reports what is wrong and yields nothing. `key` is what the fault calls the value.
  // A string, whatever it holds (the text of `content`).
  std::optional<std::string_view> any_text(const yaml::Node& node, std::string_view key);
  // A string on one line, not longer than that.
  std::optional<std::string_view> text(const yaml::Node& node, std::string_view key,
                                       std::size_t max_length);
  std::optional<std::string_view> name(const yaml::Node& node);
  std::optional<std::int64_t> integer(const yaml::Node& node, std::string_view key,
                                      std::int64_t low, std::int64_t high);
  std::optional<bool> boolean(const yaml::Node& node, std::string_view key);
  std::optional<std::span<const yaml::Node>> list(const yaml::Node& node, std::string_view key);
  std::optional<std::span<const yaml::Entry>> mapping(const yaml::Node& node, std::string_view key);
  std::optional<std::vector<std::string>> texts(const yaml::Node& node, std::string_view key,
                                                std::size_t max_length);
  // The name of a label, as a key or an item.
  std::optional<std::string_view> label_name(const yaml::Node& node);
  void unknown_key(const yaml::Node& key, std::string_view where,
                   std::span<const std::string_view> known);

 private:
  FileId file_;
  Read& out_;
};

// The nearest of `known` within two edits, or nothing.
[[nodiscard]] std::optional<std::string_view> nearest(std::string_view word,
                                                      std::span<const std::string_view> known);
// "a, b and c".
[[nodiscard]] std::string join_words(std::span<const std::string_view> words);

// All sound documents of a run, with what is wrong in them.
void read_documents(const yaml::Parsed& parsed, FileId file, Read& out);
// `root` is a mapping with sound common keys.
void read_resource(Reader& reader, model::ResourceType type, std::string_view name,
                   const yaml::Document& document);

}  // namespace datum::fleet
