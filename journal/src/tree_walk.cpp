#include "tree_walk.hpp"

#include <algorithm>
#include <cstring>

namespace datum::journal {

bool TreeWalk::is_key(ByteView key) const {
  if ((tree_.flags & kIntegerKey) != 0) return key.size() == 8;
  return !key.empty() && key.size() <= 511;
}

int TreeWalk::compare(ByteView a, ByteView b) const {
  if ((tree_.flags & kIntegerKey) != 0) {
    const auto left = load_le<std::uint64_t>(a.data());
    const auto right = load_le<std::uint64_t>(b.data());
    return left < right ? -1 : left > right ? 1 : 0;
  }
  return as_text(a).compare(as_text(b));
}

Status TreeWalk::claim(std::uint64_t first, std::uint64_t count) {
  if (first < 2 || first >= used_.size() || count > used_.size() - first)
    return fail(corrupt_page(first, "is outside the file"));
  for (auto number = first; number < first + count; ++number) {
    if (used_[number]) return fail(corrupt_page(number, "is used twice"));
    used_[number] = true;
  }
  return {};
}

Status TreeWalk::walk_leaf(const PageView& page, std::uint64_t number, const NodeVisitor& visit) {
  ++seen_.leaf_pages;
  for (std::size_t i = 0; i < page.count(); ++i) {
    DATUM_ASSIGN(const Node node, page.read_leaf(i));
    if (!is_key(node.key)) return fail(corrupt_page(number, "has an impossible key"));
    if ((has_last_ && compare(node.key, last_key_) <= 0) ||
        (has_bound_ && compare(node.key, bound_) < 0))
      return fail(corrupt_page(number, "has keys out of order"));
    has_bound_ = false;
    last_key_.assign(node.key.begin(), node.key.end());
    has_last_ = true;
    if (node.overflow_page != 0) {
      DATUM_ASSIGN(const std::uint64_t count, file_.read_overflow_count(node));
      DATUM_TRY(claim(node.overflow_page, count));
      seen_.overflow_pages += count;
    }
    ++seen_.entries;
    DATUM_TRY(visit(node));
  }
  return {};
}

Status TreeWalk::walk_branch(const PageView& page, std::uint64_t number, std::uint16_t depth,
                             const NodeVisitor& visit) {
  ++seen_.branch_pages;
  for (std::size_t i = 0; i < page.count(); ++i) {
    DATUM_ASSIGN(const PageView::Branch branch, page.read_branch(i));
    // The first key of a branch stands for "everything below the second".
    if (i > 0) {
      if (!is_key(branch.key)) return fail(corrupt_page(number, "has an impossible key"));
      if (has_last_ && compare(branch.key, last_key_) <= 0)
        return fail(corrupt_page(number, "has keys out of order"));
      bound_.assign(branch.key.begin(), branch.key.end());
      has_bound_ = true;
    }
    DATUM_TRY(walk_page(branch.child, static_cast<std::uint16_t>(depth + 1), visit));
  }
  return {};
}

Status TreeWalk::walk_page(std::uint64_t number, std::uint16_t depth, const NodeVisitor& visit) {
  DATUM_TRY(claim(number, 1));
  auto& buffer = buffers_[depth - 1U];
  DATUM_TRY(file_.read_page(number, buffer));
  const PageView page(buffer);
  if (page.is_leaf() != (depth == tree_.depth))
    return fail(corrupt_page(number, "lies at the wrong depth"));
  if (page.is_leaf()) return walk_leaf(page, number, visit);
  return walk_branch(page, number, depth, visit);
}

Status TreeWalk::walk(const Tree& tree, const NodeVisitor& visit) {
  tree_ = tree;
  seen_ = {};
  has_last_ = false;
  has_bound_ = false;
  if (tree.depth > 32) return fail(ErrorCode::corrupt, "a tree is deeper than any");
  while (buffers_.size() < tree.depth) buffers_.emplace_back(file_.page_size());
  if (tree.depth > 0) DATUM_TRY(walk_page(tree.root, 1, visit));
  if (seen_.entries != tree.entries || seen_.leaf_pages != tree.leaf_pages ||
      seen_.branch_pages != tree.branch_pages || seen_.overflow_pages != tree.overflow_pages)
    return fail(ErrorCode::corrupt, "a tree's counts are not what it holds");
  return {};
}

Result<bool> TreeWalk::visit_edge(const PageFile& file, const Tree& tree, bool is_last,
                                  const NodeVisitor& visit) {
  if (tree.depth == 0) return false;
  Bytes buffer(file.page_size());
  auto number = tree.root;
  for (std::uint16_t depth = 1;; ++depth) {
    DATUM_TRY(file.read_page(number, buffer));
    const PageView page(buffer);
    if (page.is_leaf() != (depth == tree.depth))
      return fail(corrupt_page(number, "lies at the wrong depth"));
    const std::size_t i = is_last ? page.count() - 1 : 0;
    if (page.is_leaf()) {
      DATUM_ASSIGN(const Node node, page.read_leaf(i));
      DATUM_TRY(visit(node));
      return true;
    }
    DATUM_ASSIGN(const PageView::Branch branch, page.read_branch(i));
    number = branch.child;
  }
}

}  // namespace datum::journal
