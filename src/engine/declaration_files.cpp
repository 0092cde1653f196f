#include "datum/engine/declaration_files.hpp"

#include <algorithm>

#include "datum/codec/link.hpp"
#include "sealed_file.hpp"

namespace datum::engine {
namespace {

// A frame's worth: what comes over the link in one message.
constexpr std::size_t kMaxDeclarationFile = 256 * 1024;

tl::unexpected<Error> refused(std::string why) {
  return fail(ErrorCode::refused, std::move(why));
}

bool is_signed_by(const crypto::PublicKey& key, const core::Signed& declaration) {
  crypto::Signature signature;
  if (declaration.signature.size() != signature.bytes.size()) return false;
  std::copy(declaration.signature.begin(), declaration.signature.end(), signature.bytes.begin());
  return crypto::verify(key, crypto::SignedAs::declaration, declaration.body, signature);
}

}  // namespace

std::string generation_text(const core::DeclarationId& id) {
  return std::to_string(id.epoch) + "." + std::to_string(id.number);
}

Result<core::DeclarationBody> verify_declaration(const core::Signed& declaration,
                                                 const NodeIdentity& identity) {
  const auto signer = std::find_if(
      identity.signers.begin(), identity.signers.end(),
      [&](const crypto::PublicKey& key) { return key.fingerprint() == declaration.signer; });
  if (signer == identity.signers.end())
    return refused("its signer " + declaration.signer.hex() + " is none of this mesh's");
  if (!is_signed_by(*signer, declaration)) return refused("its signature is not good");
  auto body = codec::decode_declaration_body(declaration.body);
  if (!body) return refused("it is signed and cannot be read: " + body.error().message());
  const auto& id = body->id;
  if (id.mesh != identity.mesh_id) return refused("it is of another mesh");
  if (id.node != identity.node)
    return refused("it is for " + id.node + ", and this node is " + identity.node);
  if (id.epoch == 0 || id.number == 0 || id.manifest.empty())
    return refused("it has no generation, or no manifest");
  return body;
}

Status keep_declaration(os::Files& files, const std::string& store_folder,
                        const core::DeclarationId& id, const core::Signed& declaration) {
  DATUM_ASSIGN(const auto folder, make_store_folder(files, store_folder, kDeclarationsFolder));
  const core::LinkMessage message(core::PushedDeclaration{declaration});
  return write_sealed(files, folder, generation_text(id), codec::encode_link(message));
}

Result<core::DeclarationBody> read_declaration(os::Files& files, const std::string& store_folder,
                                               const core::DeclarationId& id) {
  DATUM_ASSIGN(const auto store, files.open_root(store_folder));
  DATUM_ASSIGN(const auto folder, files.open_directory(store, kDeclarationsFolder, os::Follow::no));
  DATUM_ASSIGN(const auto bytes,
               read_sealed(files, folder, generation_text(id), kMaxDeclarationFile));
  DATUM_ASSIGN(const auto message,
               codec::decode_link(static_cast<std::uint8_t>(core::LinkKind::declaration), bytes));
  const auto* pushed = message ? std::get_if<core::PushedDeclaration>(&*message) : nullptr;
  if (pushed == nullptr)
    return fail(ErrorCode::corrupt, generation_text(id) + " is no declaration");
  DATUM_ASSIGN(auto body, codec::decode_declaration_body(pushed->declaration.body));
  if (body.id != id)
    return fail(ErrorCode::corrupt, generation_text(id) + " holds another declaration");
  return body;
}

Status drop_declarations(os::Files& files, const std::string& store_folder,
                         const std::vector<core::DeclarationId>& keep) {
  DATUM_ASSIGN(const auto store, files.open_root(store_folder));
  const auto folder = files.open_directory(store, kDeclarationsFolder, os::Follow::no);
  if (!folder && folder.error().code() == ErrorCode::not_found) return {};
  if (!folder) return fail(folder.error());
  DATUM_ASSIGN(const auto entries, files.list(*folder));
  for (const auto& entry : entries) {
    const bool is_kept = std::any_of(keep.begin(), keep.end(), [&](const auto& id) {
      return generation_text(id) == entry.name;
    });
    if (!is_kept) DATUM_TRY(remove_if_there(files, *folder, entry.name));
  }
  return {};
}

}  // namespace datum::engine
