// A machine to look at and to change: a scratch folder of the real file system or a modelled one,
// with accounts and declared content of its own.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "datum/crypto/digest.hpp"
#include "datum/os_linux/linux_files.hpp"
#include "datum/resource/observer.hpp"

namespace datum::test {

class TextSource final : public ByteSource {
 public:
  explicit TextSource(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] Result<std::size_t> read(MutableByteView out) override {
    const auto count = std::min(out.size(), text_.size() - at_);
    std::copy_n(as_bytes(text_).begin() + static_cast<std::ptrdiff_t>(at_), count, out.begin());
    at_ += count;
    return count;
  }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

// Declared content by digest. `lie` makes it hand out other bytes than the digest names.
class TextContent final : public ContentSource {
 public:
  Digest add(const std::string& text) {
    const auto digest = crypto::sha256(as_bytes(text));
    texts_[digest] = text;
    return digest;
  }
  void lie(const std::string& text, std::string other) {
    texts_[crypto::sha256(as_bytes(text))] = std::move(other);
  }
  [[nodiscard]] Result<std::unique_ptr<ByteSource>> open(const Digest& digest) const override {
    const auto found = texts_.find(digest);
    if (found == texts_.end()) return fail(ErrorCode::not_found, "no such content");
    return std::unique_ptr<ByteSource>(std::make_unique<TextSource>(found->second));
  }

 private:
  std::map<Digest, std::string> texts_;
};

class TestAccounts final : public os::Accounts {
 public:
  std::map<std::string, std::uint32_t> users{{"root", 0}, {"test", 1234}};
  std::map<std::string, std::uint32_t> groups{{"root", 0}, {"staff", 50}};

  [[nodiscard]] Result<std::optional<std::uint32_t>> find_uid(std::string_view name) override {
    return find(users, name);
  }
  [[nodiscard]] Result<std::optional<std::uint32_t>> find_gid(std::string_view name) override {
    return find(groups, name);
  }
  std::string user_name(std::uint32_t uid) override { return name_of(users, uid); }
  std::string group_name(std::uint32_t gid) override { return name_of(groups, gid); }
  void refresh() override {}

 private:
  using Names = std::map<std::string, std::uint32_t>;
  static std::optional<std::uint32_t> find(const Names& names, std::string_view name) {
    const auto found = names.find(std::string(name));
    if (found != names.end()) return found->second;
    if (name.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
    return static_cast<std::uint32_t>(std::stoul(std::string(name)));
  }
  static std::string name_of(const Names& names, std::uint32_t number) {
    for (const auto& [name, value] : names)
      if (value == number) return name;
    return std::to_string(number);
  }
};

// Builds one resource; everything but the path is optional.
class Declare {
 public:
  Declare(model::ResourceType type, const std::string& path) {
    resource_.reference = {type, "r"};
    resource_.fields.push_back({model::Field::path, path});
    name_ = path;
  }
  Declare& with(model::Field field, model::Value value) {
    std::erase_if(resource_.fields, [&](const auto& one) { return one.field == field; });
    resource_.fields.push_back({field, std::move(value)});
    return *this;
  }
  Declare& named(std::string name) {
    resource_.reference.name = std::move(name);
    return *this;
  }
  Declare& mode(const char* bits) { return with(model::Field::mode, std::string(bits)); }
  Declare& owner(const char* name) { return with(model::Field::owner, std::string(name)); }
  Declare& group(const char* name) { return with(model::Field::group, std::string(name)); }
  Declare& absent() { return with(model::Field::state, std::string("absent")); }
  Declare& content(TextContent& source, const std::string& text) {
    model::Content content;
    content.digest = source.add(text);
    content.size = text.size();
    return with(model::Field::content, content);
  }
  [[nodiscard]] model::Resource done() const {
    auto resource = resource_;
    model::finish_resource(resource);
    return resource;
  }

 private:
  model::Resource resource_;
  std::string name_;
};

inline Declare a_file(const std::string& path) {
  return {model::ResourceType::file, path};
}
inline Declare a_directory(const std::string& path) {
  return {model::ResourceType::directory, path};
}
inline Declare a_symlink(const std::string& path, const std::string& target) {
  Declare link(model::ResourceType::symlink, path);
  return link.with(model::Field::target, target);
}

// What a pass over `resources` would take as given.
inline std::shared_ptr<const resource::Declared> declare(
    std::vector<model::Resource> resources,
    const std::map<model::Target, core::Owned>& owned = {}) {
  auto manifest = std::make_shared<model::Manifest>();
  std::uint32_t count = 0;
  for (auto& one : resources) {
    if (one.reference.name == "r") one.reference.name = "r" + std::to_string(count++);
    model::finish_resource(one);
    manifest->resources.push_back(std::make_shared<const model::Resource>(std::move(one)));
  }
  if (!model::finish_manifest(*manifest)) std::abort();
  return std::make_shared<const resource::Declared>(
      resource::make_declared(std::move(manifest), owned));
}

class Scene {
 public:
  // Files of a colleague of the test: the model. The folder is "/" there.
  explicit Scene(os::Files& files, const std::string& folder = "/") : files_(files) {
    open(folder);
  }

  TextContent content;
  TestAccounts accounts;

  [[nodiscard]] os::Files& files() { return files_; }
  [[nodiscard]] resource::Machine& machine() { return *machine_; }
  [[nodiscard]] std::shared_ptr<const resource::Machine> shared() const { return machine_; }

  core::Observation observe(const model::Resource& resource,
                            const std::map<model::Target, core::Owned>& owned = {}) {
    return observe(declare({resource}, owned), resource);
  }
  core::Observation observe(std::shared_ptr<const resource::Declared> declared,
                            const model::Resource& resource) {
    return resource::Observer(machine_, std::move(declared)).observe(resource);
  }
  // After the model lost its handles.
  void open(const std::string& folder) {
    auto root = files_.open_root(folder);
    if (!root) std::abort();
    root_ = std::make_shared<os::Handle>(std::move(*root));
    machine_ = std::make_shared<resource::Machine>();
    machine_->files = &files_;
    machine_->root = root_.get();
    machine_->root_path = "/";
    machine_->accounts = &accounts;
    machine_->content = &content;
    machine_->sensitive_key = to_bytes("a key of this store");
  }

 private:
  os::Files& files_;
  std::shared_ptr<os::Handle> root_;
  std::shared_ptr<resource::Machine> machine_;
};

// A scratch folder below $TMPDIR, removed at the end.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (std::filesystem::temp_directory_path() / "datum-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  [[nodiscard]] std::string path(const std::string& below = "") const { return path_ + below; }
  void write(const std::string& below, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path_ + below).parent_path());
    std::ofstream(path_ + below, std::ios::binary) << text;
  }
  [[nodiscard]] std::string read(const std::string& below) const {
    std::ifstream in(path_ + below, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::string path_;
};

// "field: desired <- observed", one a line: what a person would be told.
inline std::string drifts_of(const core::Observation& seen) {
  std::string text;
  for (const auto& drift : seen.drifts)
    text += drift.field + ": " + drift.observed + " -> " + drift.desired + "\n";
  return text;
}

}  // namespace datum::test
