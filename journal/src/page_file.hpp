// LMDB's data file (data format 1) read with pread and every bound checked: the two meta pages,
// trees, nodes, values. LMDB itself trusts its pages, so a store that did not end cleanly is looked
// at through this first. Nothing is mapped or written; bad bytes are always `corrupt`, never a
// crash.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"

namespace datum::journal {

// Root and statistics of one tree, as a meta page or the main tree records them.
struct Tree {
  std::uint32_t pad = 0;
  std::uint16_t flags = 0;
  std::uint16_t depth = 0;
  std::uint64_t branch_pages = 0;
  std::uint64_t leaf_pages = 0;
  std::uint64_t overflow_pages = 0;
  std::uint64_t entries = 0;
  std::uint64_t root = 0;
};
inline constexpr std::size_t kTreeSize = 48;
inline constexpr std::uint16_t kIntegerKey = 0x08;
[[nodiscard]] Tree read_tree(const std::byte* at);

// One leaf entry. `key` and `inlined` are borrowed until the visitor returns.
struct Node {
  ByteView key;
  std::uint64_t size = 0;           // of the value
  ByteView inlined;                 // the value, unless it lies on pages of its own
  std::uint64_t overflow_page = 0;  // first of these, 0: inlined
  bool is_tree = false;             // the value is a Tree
};
using NodeVisitor = std::function<Status(const Node&)>;

class PageFile {
 public:
  // `fd` is borrowed for the life of the object. Both meta pages are checked and the newer one
  // taken.
  [[nodiscard]] static Result<PageFile> open(int fd);

  [[nodiscard]] const Tree& free_tree() const { return free_; }
  [[nodiscard]] const Tree& main_tree() const { return main_; }
  [[nodiscard]] std::uint64_t last_page() const { return last_page_; }
  [[nodiscard]] std::uint64_t newest_txn() const { return txn_; }
  [[nodiscard]] std::size_t page_size() const { return page_size_; }
  // Whole pages that the file holds. Pages that were never written may lie beyond.
  [[nodiscard]] std::uint64_t file_pages() const { return file_size_ / page_size_; }

  // `out` holds one page. Its number, kind and bounds are checked.
  [[nodiscard]] Status read_page(std::uint64_t number, MutableByteView out) const;
  // The node's value; `buffer` backs it when it lies on pages of its own.
  [[nodiscard]] Result<ByteView> read_node_value(const Node& node, Bytes& buffer) const;
  // Pages that a value on pages of its own occupies: at least what its size needs. LMDB leaves more
  // where a transaction wrote it twice, shorter the second time.
  [[nodiscard]] Result<std::uint64_t> read_overflow_count(const Node& node) const;

 private:
  struct Meta;
  [[nodiscard]] Result<Meta> read_meta(std::uint64_t number, std::size_t page_size) const;

  int fd_ = -1;
  std::uint64_t file_size_ = 0;
  std::size_t page_size_ = 0;
  std::uint64_t last_page_ = 0;
  std::uint64_t txn_ = 0;
  Tree free_;
  Tree main_;
};

// A tree page that read_page has accepted.
class PageView {
 public:
  explicit PageView(ByteView bytes) : bytes_(bytes) {}
  [[nodiscard]] bool is_leaf() const;
  [[nodiscard]] std::size_t count() const;
  // Entry `i` of a leaf; `corrupt` when it does not lie inside the page.
  [[nodiscard]] Result<Node> read_leaf(std::size_t i) const;
  struct Branch {
    ByteView key;
    std::uint64_t child = 0;
  };
  [[nodiscard]] Result<Branch> read_branch(std::size_t i) const;

 private:
  [[nodiscard]] Result<std::size_t> node_at(std::size_t i) const;
  ByteView bytes_;
};

[[nodiscard]] Error corrupt_page(std::uint64_t number, std::string_view what);

}  // namespace datum::journal
