// What a pushed declaration goes through at its node: signature, mesh, node and generation are
// checked, its manifest and content are asked for as far as they are not there, and once all of it
// lies durable the journal says so and the control plane is told. Accepting it is another step, for
// whoever runs passes. The newest one wins; what broke off goes on with the next connection.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "datum/engine/blob_receiver.hpp"
#include "datum/engine/declaration_files.hpp"
#include "datum/engine/store.hpp"
#include "datum/loop/task.hpp"
#include "datum/model/manifest.hpp"

namespace datum::engine {

// What it says and whom it tells; all called on the loop.
struct DeclarationTalk {
  std::function<void(const core::LinkMessage&)> send;  // does nothing where nobody hears it
  std::function<void(bool)> set_reading;
  std::function<void()> stored;                     // one waits to be accepted
  std::function<void(const std::string&)> trouble;  // it could not be taken, and nobody's fault
};

class DeclarationTaker {
 public:
  // All are borrowed, and outlive it.
  DeclarationTaker(loop::Loop& loop, os::Files& files, Store& store,
                   std::shared_ptr<const NodeIdentity> identity, DeclarationTalk talk);
  ~DeclarationTaker();
  DeclarationTaker(const DeclarationTaker&) = delete;
  DeclarationTaker& operator=(const DeclarationTaker&) = delete;

  void take(const core::PushedDeclaration& pushed);
  void take(core::BlobPart part);
  // What was asked for does not come any more.
  void link_up();
  void link_down();
  void set_identity(std::shared_ptr<const NodeIdentity> identity);

  // Blobs come, or go into the store: none may be swept meanwhile.
  [[nodiscard]] bool is_fetching() const { return fetching_ && task_ && !task_->done(); }
  // One lies whole and waits: also after a start.
  [[nodiscard]] bool has_stored() const;
  // Makes it the accepted one, while no pass runs; durable on return, and told.
  [[nodiscard]] loop::Task<Status> accept();
  // A pass finished for the accepted declaration, recorded and durable at `at`. Told once, and once
  // with each link that comes up later.
  void applied(Seq at);

 private:
  struct Fetch;
  void answer(const core::DeclarationId& id, core::DeclarationStep step, Seq at,
              std::string reason = {});
  void reject(const core::DeclarationId& id, const std::string& reason);
  [[nodiscard]] bool is_known(const core::DeclarationId& id);
  [[nodiscard]] loop::Task<Status> fetch(std::shared_ptr<Fetch> fetch);
  [[nodiscard]] loop::Task<Status> fetch_blobs(std::vector<WantedBlob> wanted);
  [[nodiscard]] loop::Task<Status> fetch_content(std::shared_ptr<Fetch> fetch);
  [[nodiscard]] loop::Task<Result<model::ManifestPtr>> read_manifest(Digest digest);
  [[nodiscard]] loop::Task<Status> keep(std::shared_ptr<Fetch> fetch);
  [[nodiscard]] loop::Task<Status> run(std::shared_ptr<Fetch> fetch);
  void end_fetch();

  loop::Loop& loop_;
  os::Files& files_;
  Store& store_;
  std::shared_ptr<const NodeIdentity> identity_;
  DeclarationTalk talk_;
  std::unique_ptr<loop::Worker> worker_;
  BlobReceiver receiver_;
  std::shared_ptr<Fetch> fetching_;
  std::optional<loop::Task<Status>> task_;
  std::optional<core::DeclarationId> received_;  // was said in the journal, by this process
  std::string last_rejection_;
  Seq stored_at_ = 0, accepted_at_ = 0, applied_at_ = 0;
  std::optional<core::DeclarationId> told_applied_;
  bool is_paused_ = false;
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

// The accepted declaration as something that a pass can run: its manifest, with its content in the
// store's blobs. Blocks on the disk. Whatever is missing of it is an error that names it.
struct AcceptedDeclaration {
  core::DeclarationBody body;
  model::ManifestPtr manifest;
};
[[nodiscard]] Result<AcceptedDeclaration> read_accepted(os::Files& files,
                                                        const std::string& store_folder,
                                                        const blobs::BlobStore& blobs,
                                                        const core::DeclarationId& id);

}  // namespace datum::engine
