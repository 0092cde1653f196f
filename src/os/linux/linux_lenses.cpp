// libaugeas by dlopen. Only the functions that turn a text into a tree and back are used: nothing
// is loaded from files but lenses, and nothing is saved. What is declared here of its interface is
// that of augeas.h since 1.0 (2012); it has not changed since, and the library's name says so.
#include "datum/os_linux/linux_lenses.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>

namespace datum::os_linux {

namespace {

struct Augeas;  // opaque, `struct augeas` there

// augeas.h, enum aug_flags.
constexpr unsigned kNoLoad = 1U << 5U;        // no file is read into the tree
constexpr unsigned kNoAutoload = 1U << 6U;    // lenses when they are asked for
constexpr unsigned kNoErrorClose = 1U << 8U;  // a failed start still says why
// augeas.h, aug_errcode_t.
constexpr int kPathSyntax = 3;
constexpr int kNoLens = 7;

constexpr const char* kIn = "/in";
constexpr const char* kOut = "/out";
constexpr std::string_view kTree = "/tree";

struct LensLibrary {
  Augeas* (*init)(const char* root, const char* loadpath, unsigned flags) = nullptr;
  void (*close)(Augeas*) = nullptr;
  int (*error)(Augeas*) = nullptr;
  int (*get)(const Augeas*, const char* path, const char** value) = nullptr;
  int (*set)(Augeas*, const char* path, const char* value) = nullptr;
  int (*rm)(Augeas*, const char* path) = nullptr;
  int (*match)(const Augeas*, const char* path, char*** matches) = nullptr;
  int (*text_store)(Augeas*, const char* lens, const char* node, const char* path) = nullptr;
  int (*text_retrieve)(Augeas*, const char* lens, const char* node_in, const char* path,
                       const char* node_out) = nullptr;
};

template <class Function>
bool find_lens_function(void* library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

Result<LensLibrary> load_lens_library(const std::string& name) {
  // Never unloaded: it may have left things behind in the threads that called it.
  void* const library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  LensLibrary found;
  const bool whole = library != nullptr && find_lens_function(library, found.init, "aug_init") &&
                     find_lens_function(library, found.close, "aug_close") &&
                     find_lens_function(library, found.error, "aug_error") &&
                     find_lens_function(library, found.get, "aug_get") &&
                     find_lens_function(library, found.set, "aug_set") &&
                     find_lens_function(library, found.rm, "aug_rm") &&
                     find_lens_function(library, found.match, "aug_match") &&
                     find_lens_function(library, found.text_store, "aug_text_store") &&
                     find_lens_function(library, found.text_retrieve, "aug_text_retrieve");
  if (whole) return found;
  const char* why = ::dlerror();
  return fail(ErrorCode::unavailable,
              "Augeas is not here: install libaugeas0 and augeas-lenses (Debian), or augeas-libs "
              "(Fedora): " +
                  (why == nullptr ? name + " cannot be loaded" : std::string(why)));
}

// Whether brackets, or the tags of an XML text, go too deep. What stands in quotes counts too.
bool is_nested_too_deep(std::string_view text) {
  std::size_t depth = 0;
  std::size_t tags = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (text[i] == '[' || text[i] == '{' || text[i] == '(') ++depth;
    if ((text[i] == ']' || text[i] == '}' || text[i] == ')') && depth > 0) --depth;
    if (text[i] == '<' && next != '/') ++tags;
    if (text[i] == '<' && next == '/' && tags > 0) --tags;
    if (text[i] == '/' && next == '>' && tags > 0) --tags;
    if (depth > os::kMaxLensNesting || tags > os::kMaxLensNesting) return true;
  }
  return false;
}

// One text as a tree.
class LensTree {
 public:
  // Lenses come from where the distribution has them, whatever root the text is of.
  LensTree(const LensLibrary& library, std::string lens)
      : library_(library),
        lens_(std::move(lens)),
        augeas_(library.init("/", nullptr, kNoLoad | kNoAutoload | kNoErrorClose)) {}
  ~LensTree() {
    if (augeas_ != nullptr) library_.close(augeas_);
  }
  LensTree(const LensTree&) = delete;
  LensTree& operator=(const LensTree&) = delete;

  Status read(std::string_view text) {
    if (augeas_ == nullptr || library_.error(augeas_) != 0)
      return fail(ErrorCode::unavailable, "Augeas does not start");
    if (text.size() > os::kMaxLensText)
      return fail(ErrorCode::limit_exceeded, "more than 1 MiB for a lens");
    if (is_nested_too_deep(text))
      return fail(ErrorCode::limit_exceeded, "nested more than 1,000 deep, too much for a lens");
    if (text.find('\0') != std::string_view::npos)
      return fail(ErrorCode::unsupported, "it holds a zero byte, which no lens reads");
    if (library_.set(augeas_, kIn, std::string(text).c_str()) != 0) return broken();
    if (library_.text_store(augeas_, lens_.c_str(), kIn, tree().c_str()) == 0) return {};
    if (library_.error(augeas_) == kNoLens)
      return fail(ErrorCode::not_found, "there is no lens " + lens_);
    return fail(ErrorCode::unsupported, "the lens " + lens_ + " does not read it: line " +
                                            error_part("line") + ", byte " + error_part("char"));
  }

  // The paths of the nodes, each of which names it alone.
  Result<std::vector<std::string>> find(const std::string& path) {
    char** matches = nullptr;
    const int count = library_.match(augeas_, expression(path).c_str(), &matches);
    if (count < 0 && library_.error(augeas_) == kPathSyntax)
      return fail(ErrorCode::invalid_argument, "the key is no path of Augeas");
    if (count < 0) return broken();
    std::vector<std::string> paths;
    for (int i = 0; i < count; ++i) {
      paths.emplace_back(matches[i]);
      std::free(matches[i]);
    }
    std::free(matches);
    if (paths.size() > os::kMaxLensNodes)
      return fail(ErrorCode::limit_exceeded, "the key names more than 1,000 nodes");
    for (const auto& found : paths)
      if (!found.starts_with(tree() + "/"))
        return fail(ErrorCode::invalid_argument, "the key leads out of the file's tree");
    return paths;
  }

  [[nodiscard]] std::optional<std::string> value(const std::string& path) const {
    const char* text = nullptr;
    const bool found = library_.get(augeas_, path.c_str(), &text) == 1 && text != nullptr;
    return found ? std::optional<std::string>(text) : std::nullopt;
  }

  Status put(const std::string& path, const std::string& text) {
    if (library_.set(augeas_, path.c_str(), text.c_str()) == 0) return {};
    return fail(ErrorCode::refused, "the key names no node that could be made");
  }

  // The path of a node that is gone with another one matches nothing.
  Status remove(const std::string& path) {
    return library_.rm(augeas_, path.c_str()) >= 0 ? Status{} : broken();
  }

  Result<std::string> write() {
    if (library_.text_retrieve(augeas_, lens_.c_str(), kIn, tree().c_str(), kOut) != 0)
      return fail(ErrorCode::refused,
                  "the lens " + lens_ + " cannot write that value at that place");
    auto text = value(kOut);
    if (!text) return broken();
    return std::move(*text);
  }

  [[nodiscard]] static std::string expression(const std::string& path) {
    return tree() + "/" + path;
  }

 private:
  [[nodiscard]] static std::string tree() { return std::string(kTree); }
  [[nodiscard]] static tl::unexpected<Error> broken() {
    return fail(ErrorCode::unavailable, "Augeas fails");
  }
  [[nodiscard]] std::string error_part(const char* part) const {
    return value("/augeas/text" + tree() + "/error/" + part).value_or("?");
  }

  const LensLibrary& library_;
  std::string lens_;
  Augeas* augeas_;
};

class LinuxLenses final : public os::Lenses {
 public:
  explicit LinuxLenses(std::string library) : name_(std::move(library)) {}

  Result<os::LensValues> find(const os::LensPlace& place, std::string_view text) override {
    const std::scoped_lock lock(mutex_);
    DATUM_ASSIGN(auto* tree, read(place.lens, text));
    DATUM_ASSIGN(const auto paths, tree->find(place.path));
    os::LensValues values;
    for (const auto& path : paths) values.push_back(tree->value(path));
    return values;
  }

  Result<std::string> edit(const os::LensPlace& place, std::string_view text,
                           std::optional<std::string_view> value) override {
    const std::scoped_lock lock(mutex_);
    DATUM_ASSIGN(const auto* library, load());
    LensTree tree(*library, place.lens);
    DATUM_TRY(tree.read(text));
    DATUM_ASSIGN(auto paths, tree.find(place.path));
    if (!value) {
      // From the last on: the paths of later siblings have the numbers of earlier ones in them.
      for (auto path = paths.rbegin(); path != paths.rend(); ++path) DATUM_TRY(tree.remove(*path));
      return tree.write();
    }
    if (paths.empty()) paths.push_back(LensTree::expression(place.path));
    for (const auto& path : paths) DATUM_TRY(tree.put(path, std::string(*value)));
    return tree.write();
  }

 private:
  // Several values of one file are asked for one after the other, and a tree takes up to 50 ms.
  Result<LensTree*> read(const std::string& lens, std::string_view text) {
    if (known_ && known_->lens == lens && known_->text == text) return &known_->tree;
    DATUM_ASSIGN(const auto* library, load());
    known_.reset();
    known_.emplace(*library, lens, text);
    auto made = known_->tree.read(text);
    if (made) return &known_->tree;
    known_.reset();
    return fail(std::move(made).error());
  }

  // A library that somebody installs meanwhile is found by the next question.
  Result<const LensLibrary*> load() {
    if (!library_) {
      DATUM_ASSIGN(library_, load_lens_library(name_));
    }
    return &*library_;
  }

  std::string name_;
  // What its automata share between handles is nowhere said to be safe.
  std::mutex mutex_;
  std::optional<LensLibrary> library_;
  struct Known {
    Known(const LensLibrary& library, const std::string& the_lens, std::string_view the_text)
        : lens(the_lens), text(the_text), tree(library, the_lens) {}
    std::string lens;
    std::string text;
    LensTree tree;
  };
  std::optional<Known> known_;  // the text that was looked at last; it goes with this object
};

}  // namespace

std::unique_ptr<os::Lenses> make_lenses(std::string library) {
  return std::make_unique<LinuxLenses>(std::move(library));
}

}  // namespace datum::os_linux
