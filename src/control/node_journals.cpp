#include "datum/control/node_journals.hpp"

#include <filesystem>
#include <iterator>
#include <utility>

namespace datum::control {
namespace {

std::string copy_key(const std::string& node, const Id128& store) {
  return node + "/" + store.hex();
}

// The node's folder, made if it is missing. Its entry is synced with the file's by the copy only
// for the file, so the folder's own name is made durable here.
Status make_node_folder(const std::string& all, const std::string& node) {
  std::error_code error;
  std::filesystem::create_directory(all + "/" + node, error);
  if (error) return fail(error_from_errno(error.value(), all + "/" + node));
  std::filesystem::permissions(all + "/" + node, std::filesystem::perms::owner_all, error);
  return {};
}

// A machine that is enrolled anew, or whose store was lost, has another store; more than these is a
// node that makes up a new one each time.
constexpr std::ptrdiff_t kMaxStores = 16;

Status check_stores(const std::string& folder, const std::string& file) {
  std::error_code error;
  if (std::filesystem::exists(file, error)) return {};
  const auto count = std::distance(std::filesystem::directory_iterator(folder, error), {});
  if (error) return fail(error_from_errno(error.value(), folder));
  if (count < kMaxStores) return {};
  return fail(ErrorCode::limit_exceeded,
              folder + " has the journals of 16 stores: move the old ones away");
}

}  // namespace

NodeJournals::NodeJournals(loop::Loop& loop, std::string folder)
    : loop_(loop),
      folder_(std::move(folder)),
      copies_(std::make_shared<Copies>()),
      thread_(loop.make_serial_worker()) {}
NodeJournals::~NodeJournals() = default;

std::string NodeJournals::path_of(const std::string& folder, const std::string& node,
                                  const Id128& store) {
  const auto all = folder + "/" + node;
  return store.empty() ? all : all + "/" + store.hex() + ".copy";
}

void NodeJournals::open(const std::string& node, const Id128& store,
                        std::function<void(Result<journal::Head>)> done) {
  auto result =
      std::make_shared<Result<journal::Head>>(fail(ErrorCode::internal, "nothing was opened"));
  thread_->submit(
      [copies = copies_, folder = folder_, node, store, result] {
        auto& copy = (*copies)[copy_key(node, store)];
        if (!copy) {
          if (auto made = make_node_folder(folder, node); !made) {
            *result = fail(std::move(made).error());
            return;
          }
          const auto file = path_of(folder, node, store);
          const auto allowed = check_stores(path_of(folder, node, {}), file);
          auto opened = allowed ? journal::Copy::open(file, store)
                                : Result<std::unique_ptr<journal::Copy>>(fail(allowed.error()));
          if (!opened) {
            *result = fail(std::move(opened).error());
            return;
          }
          copy = std::move(*opened);
        }
        *result = copy->head();
      },
      [result, done = std::move(done)] { done(std::move(*result)); });
}

void NodeJournals::append(const std::string& node, core::JournalPart part,
                          std::function<void(Result<journal::Head>)> done) {
  auto result =
      std::make_shared<Result<journal::Head>>(fail(ErrorCode::internal, "nothing was kept"));
  auto shared = std::make_shared<const core::JournalPart>(std::move(part));
  thread_->submit(
      [copies = copies_, node, shared, result] {
        const auto found = copies->find(copy_key(node, shared->store));
        if (found == copies->end() || !found->second) {
          *result = fail(ErrorCode::conflict, "records of another store than the one in the hello");
          return;
        }
        *result = found->second->append(shared->first, shared->count, shared->records);
        // A copy that a write failed on is opened anew with the next hello.
        const auto code = *result ? ErrorCode::corrupt : result->error().code();
        if (code != ErrorCode::corrupt && code != ErrorCode::conflict) copies->erase(found);
      },
      [result, done = std::move(done)] { done(std::move(*result)); });
}

}  // namespace datum::control
