// See the header. Folders are listed one at a time; what the names are is decided here and nowhere
// else.
#include "discovery.hpp"

#include <algorithm>

#include "glob.hpp"

namespace datum::fleet {
namespace {

bool is_document_file(std::string_view name) {
  return name.ends_with(".yaml") || name.ends_with(".yml");
}

bool has_control_character(std::string_view name) {
  return std::any_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) == 0x7F;
  });
}

struct Pending {
  std::string folder;
  std::size_t depth = 0;
};

class Finder {
 public:
  Finder(SourceFiles& sources, const std::vector<std::string>& exclude)
      : sources_(sources), exclude_(exclude) {}

  Found run() {
    pending_.push_back({});
    while (!pending_.empty() && found_.files.size() < kMaxFiles) {
      auto next = std::move(pending_.back());
      pending_.pop_back();
      list(next);
    }
    std::sort(found_.files.begin(), found_.files.end());
    for (auto& [file, message, hint] : wrong_) report(file, message, hint);
    return std::move(found_);
  }

 private:
  struct Wrong {
    std::string file, message, hint;
  };

  void report(const std::string& file, const std::string& message, const std::string& hint) {
    found_.files.push_back(file);
    const auto id = static_cast<FileId>(found_.files.size() - 1);
    found_.faults.push_back({{id, 0, 0}, message, hint, false});
  }

  void list(const Pending& folder) {
    const auto entries = sources_.list(folder.folder);
    if (!entries) {
      wrong_.push_back({folder.folder.empty() ? "." : folder.folder, entries.error().message(),
                        "make the folder readable, or name it in exclude"});
      return;
    }
    for (const auto& entry : *entries) visit(folder, entry);
    if (found_.files.size() >= kMaxFiles)
      wrong_.push_back(
          {".", "the fleet has more than " + std::to_string(kMaxFiles) + " files of documents",
           "name the folder that holds the fleet, or leave folders out by exclude"});
  }

  void visit(const Pending& folder, const os::DirectoryEntry& entry) {
    if (entry.name.front() == '.') return;
    const auto path = folder.folder.empty() ? entry.name : folder.folder + "/" + entry.name;
    const bool document = is_document_file(entry.name);
    if (path == "datum.yaml") return found_.files.push_back(path);
    if (!document && entry.type != os::FileType::directory) return;
    if (std::any_of(exclude_.begin(), exclude_.end(),
                    [&](const std::string& glob) { return glob_excludes(glob, path); }))
      return;
    if (has_control_character(entry.name)) {
      wrong_.push_back({folder.folder.empty() ? "." : folder.folder,
                        "a name in this folder holds a control character", "rename the file"});
      return;
    }
    if (entry.type != os::FileType::directory) return found_.files.push_back(path);
    if (folder.depth + 1 > kMaxFolderDepth)
      wrong_.push_back(
          {path,
           "folders lie deeper than " + std::to_string(kMaxFolderDepth) + " inside one another",
           "flatten them, or name the folder in exclude"});
    else
      pending_.push_back({path, folder.depth + 1});
  }

  SourceFiles& sources_;
  const std::vector<std::string>& exclude_;
  std::vector<Pending> pending_;
  std::vector<Wrong> wrong_;
  Found found_;
};

}  // namespace

Found find_files(SourceFiles& sources, const std::vector<std::string>& exclude) {
  return Finder(sources, exclude).run();
}

std::string folder_of_file(const std::string& file) {
  const auto slash = file.rfind('/');
  return slash == std::string::npos ? std::string() : file.substr(0, slash);
}

}  // namespace datum::fleet
