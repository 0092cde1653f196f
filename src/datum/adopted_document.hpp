// Portraits of things as desired-state documents, in the form in which people write them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "datum/base/error.hpp"
#include "datum/resource/portrait.hpp"

namespace datum::program {

// Beside the documents: contents that are no text of a few lines.
inline constexpr const char* kContentFolder = "files";
struct ContentFile {
  std::string path;  // relative to the documents: "files/etc-motd"
  std::string bytes;
};

class AdoptedDocuments {
 public:
  // With files a long content, or one that is no text, is a file of its own and named by `source`.
  // Without, it stands in the document as long as it is text.
  explicit AdoptedDocuments(bool with_files) : with_files_(with_files) {}

  // `unsupported`: its content is no text, and there is no file for it; nothing was added.
  [[nodiscard]] Status add(const resource::Portrait& portrait);
  // All of them, separated by "---"; empty if none was added.
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::vector<ContentFile>& contents() const { return contents_; }

 private:
  [[nodiscard]] std::string make_name(const resource::Portrait& portrait);
  [[nodiscard]] Result<std::string> content_line(const resource::Portrait& portrait,
                                                 const std::string& name);

  bool with_files_;
  std::string text_;
  std::vector<ContentFile> contents_;
  std::set<std::string> names_;  // "File[etc-motd]"
};

}  // namespace datum::program
