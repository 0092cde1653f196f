// Walks the trees of one PageFile in key order and keeps account of pages: none may be used twice,
// none may be outside the file, counts must be what the tree says, keys must ascend through
// branches and leaves, all leaves must lie at the tree's depth.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "page_file.hpp"

namespace datum::journal {

class TreeWalk {
 public:
  explicit TreeWalk(const PageFile& file) : file_(file), used_(file.last_page() + 1) {}

  [[nodiscard]] Status walk(const Tree& tree, const NodeVisitor& visit);
  // Marks pages as used; `corrupt` when one already is, or is outside.
  [[nodiscard]] Status claim(std::uint64_t first, std::uint64_t count);
  // Last leaf entry of a tree (`is_last`) or the first; false for an empty tree. Counts nothing.
  [[nodiscard]] static Result<bool> visit_edge(const PageFile& file, const Tree& tree, bool is_last,
                                               const NodeVisitor& visit);

 private:
  [[nodiscard]] Status walk_page(std::uint64_t number, std::uint16_t depth,
                                 const NodeVisitor& visit);
  [[nodiscard]] Status walk_leaf(const PageView& page, std::uint64_t number,
                                 const NodeVisitor& visit);
  [[nodiscard]] Status walk_branch(const PageView& page, std::uint64_t number, std::uint16_t depth,
                                   const NodeVisitor& visit);
  [[nodiscard]] int compare(ByteView a, ByteView b) const;
  [[nodiscard]] bool is_key(ByteView key) const;

  const PageFile& file_;
  std::vector<bool> used_;
  std::vector<Bytes> buffers_;  // one page per depth
  // State of the running walk.
  Tree tree_;
  Tree seen_;
  Bytes last_key_;
  bool has_last_ = false;
  Bytes bound_;  // the branch key that the next leaf's first key may not be below
  bool has_bound_ = false;
};

}  // namespace datum::journal
