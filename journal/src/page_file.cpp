// Offsets below are those of MDB_page, MDB_meta, MDB_db and MDB_node in LMDB 0.9 on 64-bit
// machines.
#include "page_file.hpp"

#include <sys/stat.h>

#include <array>
#include <bit>
#include <cerrno>

#include "file_io.hpp"

namespace datum::journal {
namespace {

static_assert(std::endian::native == std::endian::little, "LMDB pages are in native order");

constexpr std::uint32_t kLmdbMagic = 0xBEEFC0DE;
constexpr std::uint32_t kLmdbVersion = 1;
constexpr std::uint64_t kNoPage = ~std::uint64_t{0};
// LMDB's CURSOR_STACK: no tree is deeper.
constexpr std::uint16_t kMaxDepth = 32;

constexpr std::size_t kPageHeader = 16;
constexpr std::size_t kPageFlagsAt = 10;
constexpr std::size_t kLowerAt = 12;
constexpr std::size_t kUpperAt = 14;
constexpr std::size_t kPagesAt = 12;  // of an overflow page
constexpr std::size_t kNodeHeader = 8;

constexpr std::uint16_t kBranchPage = 0x01;
constexpr std::uint16_t kLeafPage = 0x02;
constexpr std::uint16_t kOverflowPage = 0x04;
constexpr std::uint16_t kMetaPage = 0x08;

constexpr std::uint16_t kBigNode = 0x01;
constexpr std::uint16_t kTreeNode = 0x02;

// From the page's begin.
constexpr std::size_t kMetaMagicAt = kPageHeader;
constexpr std::size_t kMetaVersionAt = kPageHeader + 4;
constexpr std::size_t kMetaAddressAt = kPageHeader + 8;
constexpr std::size_t kFreeTreeAt = kPageHeader + 24;
constexpr std::size_t kMainTreeAt = kFreeTreeAt + kTreeSize;
constexpr std::size_t kLastPageAt = kMainTreeAt + kTreeSize;
constexpr std::size_t kTxnAt = kLastPageAt + 8;
constexpr std::size_t kMetaEnd = kTxnAt + 8;

constexpr std::size_t kMinPage = 4096;
constexpr std::size_t kMaxPage = 32768;  // LMDB's MAX_PAGESIZE

// A file can be shorter than its page count says, by pages that one transaction took and gave back.
constexpr std::uint64_t kMaxUnwritten = 131'072;

std::uint16_t load16(ByteView bytes, std::size_t at) {
  return load_le<std::uint16_t>(bytes.data() + at);
}

}  // namespace

Error corrupt_page(std::uint64_t number, std::string_view what) {
  return {ErrorCode::corrupt, "page " + std::to_string(number) + ": " + std::string(what)};
}

Tree read_tree(const std::byte* at) {
  Tree tree;
  tree.pad = load_le<std::uint32_t>(at);
  tree.flags = load_le<std::uint16_t>(at + 4);
  tree.depth = load_le<std::uint16_t>(at + 6);
  tree.branch_pages = load_le<std::uint64_t>(at + 8);
  tree.leaf_pages = load_le<std::uint64_t>(at + 16);
  tree.overflow_pages = load_le<std::uint64_t>(at + 24);
  tree.entries = load_le<std::uint64_t>(at + 32);
  tree.root = load_le<std::uint64_t>(at + 40);
  return tree;
}

struct PageFile::Meta {
  std::size_t page_size = 0;
  Tree free;
  Tree main;
  std::uint64_t last_page = 0;
  std::uint64_t txn = 0;
};

static Status check_tree(const Tree& tree, std::uint64_t page, std::uint64_t last_page) {
  const bool is_empty = tree.root == kNoPage;
  if (tree.depth > kMaxDepth || is_empty != (tree.depth == 0))
    return fail(corrupt_page(page, "a tree has an impossible depth"));
  if (!is_empty && (tree.root < 2 || tree.root > last_page))
    return fail(corrupt_page(page, "a tree's root is outside the file"));
  return {};
}

Result<PageFile::Meta> PageFile::read_meta(std::uint64_t number, std::size_t page_size) const {
  std::array<std::byte, kMetaEnd> bytes{};
  const auto read = read_exact(fd_, number * page_size, bytes);
  if (!read && read.error().code() == ErrorCode::corrupt)
    return fail(corrupt_page(number, "the file ends before it"));
  DATUM_TRY(read);
  const ByteView page(bytes);
  const auto* at = bytes.data();
  if (load_le<std::uint64_t>(at) != number || load16(page, kPageFlagsAt) != kMetaPage ||
      load_le<std::uint32_t>(at + kMetaMagicAt) != kLmdbMagic)
    return fail(corrupt_page(number, "is no meta page of LMDB"));
  if (load_le<std::uint32_t>(at + kMetaVersionAt) != kLmdbVersion)
    return fail(corrupt_page(number, "has another data format than LMDB's 1"));
  Meta meta;
  meta.free = read_tree(at + kFreeTreeAt);
  meta.main = read_tree(at + kMainTreeAt);
  meta.page_size = meta.free.pad;
  meta.last_page = load_le<std::uint64_t>(at + kLastPageAt);
  meta.txn = load_le<std::uint64_t>(at + kTxnAt);
  const bool is_known = meta.free.flags == kIntegerKey && meta.main.flags == 0 &&
                        load_le<std::uint64_t>(at + kMetaAddressAt) == 0;
  if (!is_known) return fail(corrupt_page(number, "has flags that the journal never sets"));
  if (!std::has_single_bit(meta.page_size) || meta.page_size < kMinPage ||
      meta.page_size > kMaxPage)
    return fail(corrupt_page(number, "has an impossible page size"));
  return meta;
}

Result<PageFile> PageFile::open(int fd) {
  PageFile file;
  file.fd_ = fd;
  struct stat info {};
  if (::fstat(fd, &info) != 0) return fail(error_from_errno(errno, "stat data.mdb"));
  file.file_size_ = static_cast<std::uint64_t>(info.st_size);
  DATUM_ASSIGN(const Meta first, file.read_meta(0, 0));
  DATUM_ASSIGN(const Meta second, file.read_meta(1, first.page_size));
  if (first.page_size != second.page_size)
    return fail(corrupt_page(1, "has another page size than page 0"));
  // Commits alternate: the even transaction's meta is page 0. Numbers that do not follow each other
  // mean that one page is not what the last commits wrote.
  const bool is_first_newer = first.txn > second.txn;
  const auto distance = is_first_newer ? first.txn - second.txn : second.txn - first.txn;
  if (distance != 1 || first.txn % 2 != 0)
    return fail(corrupt_page(0, "transaction numbers of the meta pages do not follow each other"));
  const Meta& newer = is_first_newer ? first : second;
  file.page_size_ = newer.page_size;
  file.free_ = newer.free;
  file.main_ = newer.main;
  file.last_page_ = newer.last_page;
  file.txn_ = newer.txn;
  const std::uint64_t page = is_first_newer ? 0 : 1;
  if (newer.last_page < 1 || newer.last_page >= file.file_pages() + kMaxUnwritten)
    return fail(corrupt_page(page, "the file is shorter than its page count"));
  DATUM_TRY(check_tree(newer.free, page, newer.last_page));
  DATUM_TRY(check_tree(newer.main, page, newer.last_page));
  return file;
}

Result<std::uint64_t> PageFile::read_overflow_count(const Node& node) const {
  const auto first = node.overflow_page;
  const auto needed = (kPageHeader - 1 + node.size) / page_size_ + 1;
  if (first < 2 || needed > file_pages() || first > file_pages() - needed)
    return fail(corrupt_page(first, "is outside the file"));
  std::array<std::byte, kPageHeader> header{};
  DATUM_TRY(read_exact(fd_, first * page_size_, header));
  const std::uint64_t count = load_le<std::uint32_t>(header.data() + kPagesAt);
  if (load_le<std::uint64_t>(header.data()) != first ||
      load16(header, kPageFlagsAt) != kOverflowPage || count < needed)
    return fail(corrupt_page(first, "is not the value that its entry names"));
  return count;
}

Status PageFile::read_page(std::uint64_t number, MutableByteView out) const {
  if (number < 2 || number > last_page_ || number >= file_pages())
    return fail(corrupt_page(number, "is outside the file"));
  const auto read = read_exact(fd_, number * page_size_, out.first(page_size_));
  if (!read) return fail(Error(read.error()).context("page " + std::to_string(number)));
  const auto flags = load16(out, kPageFlagsAt);
  if (load_le<std::uint64_t>(out.data()) != number)
    return fail(corrupt_page(number, "carries another number"));
  if (flags != kBranchPage && flags != kLeafPage)
    return fail(corrupt_page(number, "is no page of a tree"));
  const std::size_t lower = load16(out, kLowerAt);
  const std::size_t upper = load16(out, kUpperAt);
  if (lower <= kPageHeader || lower % 2 != 0 || lower > upper || upper > page_size_)
    return fail(corrupt_page(number, "has impossible bounds"));
  return {};
}

Result<ByteView> PageFile::read_node_value(const Node& node, Bytes& buffer) const {
  if (node.overflow_page == 0) return node.inlined;
  DATUM_TRY(read_overflow_count(node));
  buffer.resize(node.size);
  DATUM_TRY(read_exact(fd_, node.overflow_page * page_size_ + kPageHeader, buffer));
  return ByteView(buffer);
}

bool PageView::is_leaf() const {
  return load16(bytes_, kPageFlagsAt) == kLeafPage;
}

std::size_t PageView::count() const {
  return (load16(bytes_, kLowerAt) - kPageHeader) / 2;
}

Result<std::size_t> PageView::node_at(std::size_t i) const {
  const std::size_t at = load16(bytes_, kPageHeader + 2 * i);
  const std::size_t upper = load16(bytes_, kUpperAt);
  if (at < upper || at % 2 != 0 || at + kNodeHeader > bytes_.size() ||
      at + kNodeHeader + load16(bytes_, at + 6) > bytes_.size())
    return fail(corrupt_page(load_le<std::uint64_t>(bytes_.data()), "has an entry outside itself"));
  return at;
}

Result<Node> PageView::read_leaf(std::size_t i) const {
  DATUM_ASSIGN(const std::size_t at, node_at(i));
  const auto number = load_le<std::uint64_t>(bytes_.data());
  const auto flags = load16(bytes_, at + 4);
  const std::size_t key_size = load16(bytes_, at + 6);
  Node node;
  node.key = bytes_.subspan(at + kNodeHeader, key_size);
  node.size = load16(bytes_, at) | std::uint64_t{load16(bytes_, at + 2)} << 16;
  const std::size_t data = at + kNodeHeader + key_size;
  if (flags != 0 && flags != kBigNode && flags != kTreeNode)
    return fail(corrupt_page(number, "has an entry of unknown kind"));
  const std::uint64_t held = flags == kBigNode ? 8 : node.size;
  if (held > bytes_.size() - data) return fail(corrupt_page(number, "has a value outside itself"));
  if (flags == kBigNode) {
    node.overflow_page = load_le<std::uint64_t>(bytes_.data() + data);
    if (node.overflow_page < 2) return fail(corrupt_page(number, "has a value outside the file"));
    return node;
  }
  node.inlined = bytes_.subspan(data, node.size);
  node.is_tree = flags == kTreeNode;
  if (node.is_tree && node.size != kTreeSize)
    return fail(corrupt_page(number, "has a tree of a wrong size"));
  return node;
}

Result<PageView::Branch> PageView::read_branch(std::size_t i) const {
  DATUM_ASSIGN(const std::size_t at, node_at(i));
  Branch branch;
  branch.key = bytes_.subspan(at + kNodeHeader, load16(bytes_, at + 6));
  branch.child = load16(bytes_, at) | std::uint64_t{load16(bytes_, at + 2)} << 16 |
                 std::uint64_t{load16(bytes_, at + 4)} << 32;
  return branch;
}

}  // namespace datum::journal
