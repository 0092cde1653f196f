// What the trees of a store must hold, over the page reader.
#include "store_walk.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "envelope.hpp"
#include "page_file.hpp"
#include "tree_walk.hpp"

namespace datum::journal {
namespace {

struct Names {
  Tree events;
  Tree meta;
  Tree projections;
  std::map<std::string, Tree> indexes;
};

Status check_named(const std::string& name, const Tree& tree, const PageFile& file) {
  const std::uint16_t flags = name == "events" ? kIntegerKey : 0;
  const bool is_empty = tree.root == ~std::uint64_t{0};
  const bool is_possible = tree.pad == 0 && tree.flags == flags && tree.depth <= 32 &&
                           is_empty == (tree.depth == 0) &&
                           (is_empty || (tree.root >= 2 && tree.root <= file.last_page()));
  if (!is_possible) return fail(ErrorCode::corrupt, "database '" + name + "' is damaged");
  return {};
}

Result<Names> read_names(const PageFile& file, TreeWalk& walk) {
  std::map<std::string, Tree> trees;
  const auto status = walk.walk(file.main_tree(), [&](const Node& node) -> Status {
    const std::string name(as_text(node.key));
    if (!node.is_tree) return fail(ErrorCode::corrupt, "'" + name + "' is no database");
    if (trees.size() > kMaxIndexes + 3) return fail(ErrorCode::corrupt, "too many databases");
    const auto tree = read_tree(node.inlined.data());
    DATUM_TRY(check_named(name, tree, file));
    trees[name] = tree;
    return {};
  });
  DATUM_TRY(status);
  Names names;
  for (auto* const wanted : {&names.events, &names.meta, &names.projections}) {
    const auto* name = wanted == &names.events ? "events"
                       : wanted == &names.meta ? "meta"
                                               : "projections";
    const auto found = trees.extract(name);
    if (!found) return fail(ErrorCode::corrupt, "database '" + std::string(name) + "' is missing");
    *wanted = found.mapped();
  }
  names.indexes = std::move(trees);
  return names;
}

// Reads the checked values of `meta` (or of `projections`, whose names mean nothing here).
Status walk_checked(const PageFile& file, TreeWalk& walk, const Tree& tree, const char* what,
                    const std::function<void(std::string_view, ByteView)>& visit) {
  Bytes buffer;
  return walk.walk(tree, [&](const Node& node) -> Status {
    DATUM_ASSIGN(const ByteView stored, file.read_node_value(node, buffer));
    const auto name = as_text(node.key);
    const auto value = find_checked(name, stored);
    if (!value || node.is_tree)
      return fail(ErrorCode::corrupt,
                  std::string(what) + " '" + std::string(name) + "': checksum differs");
    visit(name, *value);
    return {};
  });
}

Status walk_meta(const PageFile& file, TreeWalk& walk, const Tree& tree, Probe& probe) {
  bool has_level = false;
  DATUM_TRY(walk_checked(file, walk, tree, "meta", [&](std::string_view name, ByteView value) {
    if (name == "journal.store" && value.size() == Id128::kSize) {
      std::copy_n(reinterpret_cast<const std::uint8_t*>(value.data()), Id128::kSize,
                  probe.store.bytes.begin());
    } else if (name == "journal.level" && value.size() == 4) {
      probe.level = load_le<std::uint32_t>(value.data());
      has_level = true;
    } else if (name == kCheckpointMeta && value.size() == 8) {
      probe.checkpoint = std::max<Seq>(1, load_le<std::uint64_t>(value.data()));
    }
  }));
  if (probe.store.empty() || !has_level)
    return fail(ErrorCode::corrupt, "meta holds no store id or no level");
  return {};
}

Result<Seq> seq_of(const Node& node) {
  if (node.key.size() != 8 || node.is_tree)
    return fail(ErrorCode::corrupt, "events holds an entry that is no record");
  return load_le<std::uint64_t>(node.key.data());
}

Status probe_head(const PageFile& file, const Tree& events, Probe& probe) {
  const auto visit_first = [&](const Node& node) -> Status {
    DATUM_ASSIGN(probe.head.first, seq_of(node));
    return {};
  };
  const auto visit_last = [&](const Node& node) -> Status {
    Bytes buffer;
    DATUM_ASSIGN(probe.head.seq, seq_of(node));
    DATUM_ASSIGN(const ByteView value, file.read_node_value(node, buffer));
    DATUM_ASSIGN(const Record record, read_value(value, probe.head.seq));
    probe.head.hash = hash_of(record);
    return {};
  };
  DATUM_TRY(TreeWalk::visit_edge(file, events, false, visit_first));
  DATUM_TRY(TreeWalk::visit_edge(file, events, true, visit_last));
  return {};
}

// One walk; keeps what a finding says.
class StoreWalk {
 public:
  StoreWalk(const PageFile& file, WalkScope scope) : file_(file), walk_(file), scope_(scope) {}

  Status run() {
    DATUM_ASSIGN(const Names names, read_names(file_, walk_));
    DATUM_TRY(walk_meta(file_, walk_, names.meta, probe_));
    DATUM_TRY(walk_checked(file_, walk_, names.projections, "projection", [](auto, auto) {}));
    DATUM_TRY(walk_events(names.events));
    for (const auto& [name, tree] : names.indexes) DATUM_TRY(walk_index(name, tree));
    if (index_sum_ != keys_sum_)
      return fail(ErrorCode::corrupt, "the indexes are not what the records' keys say");
    return walk_free();
  }

  Verification finding;

 private:
  Status walk_events(const Tree& events) {
    if (events.depth == 0) return {};
    Probe edges;
    DATUM_TRY(probe_head(file_, events, edges));
    const Seq wanted = scope_ == WalkScope::whole ? Seq{1} : probe_.checkpoint;
    // A checkpoint above the head would leave the head itself unread.
    from_ = std::clamp(wanted, edges.head.first, std::max(edges.head.first, edges.head.seq));
    ChainCheck chain(edges.head.first, from_);
    Bytes buffer;
    const auto status = walk_.walk(events, [&](const Node& node) -> Status {
      DATUM_ASSIGN(const Seq seq, seq_of(node));
      if (seq != chain.next())
        return fail(
            corrupt_record(chain.next(), "is missing, " + std::to_string(seq) + " follows"));
      if (!chain.wants_bytes()) {
        chain.skip();
        return {};
      }
      DATUM_ASSIGN(const ByteView value, file_.read_node_value(node, buffer));
      return chain.take(value);
    });
    finding.head = chain.head();
    finding.records = chain.next() - edges.head.first;
    if (!status) {
      finding.bad_seq = chain.next();
      return status;
    }
    keys_sum_ = chain.keys_sum();
    return {};
  }

  Status walk_index(const std::string& name, const Tree& tree) {
    return walk_.walk(tree, [&](const Node& node) -> Status {
      const auto entry = find_index_entry(node.key);
      if (!entry || node.size != 0)
        return fail(ErrorCode::corrupt, "index '" + name + "' holds an entry that is none");
      if (entry->seq < finding.head.first || entry->seq > finding.head.seq)
        return fail(ErrorCode::corrupt, "index '" + name + "' names record " +
                                            std::to_string(entry->seq) + ", which is not held");
      if (entry->seq >= from_) index_sum_ += index_sum(name, entry->key, entry->seq);
      return {};
    });
  }

  // A page that is both free and used would be overwritten by the next commit.
  Status walk_free() {
    Bytes buffer;
    return walk_.walk(file_.free_tree(), [&](const Node& node) -> Status {
      DATUM_ASSIGN(const ByteView list, file_.read_node_value(node, buffer));
      const bool has_txn = load_le<std::uint64_t>(node.key.data()) <= file_.newest_txn();
      if (!has_txn || node.is_tree || list.size() < 8 || list.size() % 8 != 0)
        return fail(ErrorCode::corrupt, "the list of free pages is damaged");
      const auto count = load_le<std::uint64_t>(list.data());
      if (count > list.size() / 8 - 1)
        return fail(ErrorCode::corrupt, "the list of free pages is damaged");
      for (std::uint64_t i = 1; i <= count; ++i)
        DATUM_TRY(walk_.claim(load_le<std::uint64_t>(list.data() + 8 * i), 1));
      return {};
    });
  }

  const PageFile& file_;
  TreeWalk walk_;
  WalkScope scope_;
  Probe probe_;
  Seq from_ = 1;
  std::uint64_t keys_sum_ = 0;
  std::uint64_t index_sum_ = 0;
};

}  // namespace

Result<Probe> probe_store(int data_fd) {
  DATUM_ASSIGN(const PageFile file, PageFile::open(data_fd));
  TreeWalk walk(file);
  DATUM_ASSIGN(const Names names, read_names(file, walk));
  Probe probe;
  DATUM_TRY(walk_meta(file, walk, names.meta, probe));
  DATUM_TRY(probe_head(file, names.events, probe));
  return probe;
}

Result<Verification> walk_store(int data_fd, WalkScope scope) {
  auto file = PageFile::open(data_fd);
  Status status;
  Verification finding;
  if (file) {
    StoreWalk walk(*file, scope);
    status = walk.run();
    finding = walk.finding;
  } else {
    status = fail(std::move(file).error());
  }
  if (status) {
    finding.sound = true;
  } else if (status.error().code() == ErrorCode::corrupt) {
    finding.problem = status.error().message();
  } else {
    return fail(std::move(status).error());
  }
  return finding;
}

}  // namespace datum::journal
