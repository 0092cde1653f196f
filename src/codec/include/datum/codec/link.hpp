// Messages of a link as bytes and back; the layout is described in docs/formats/link.md. Pure.
// What comes in is a stranger's: nothing is allocated beyond what the bytes hold.
#pragma once

#include <cstdint>
#include <optional>

#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"
#include "datum/core/link_message.hpp"

namespace datum::codec {

// The message without its frame; core::kind_of says the frame's kind. Equal messages give equal
// bytes.
[[nodiscard]] Bytes encode_link(const core::LinkMessage& message);
// nullopt for a kind that this version does not know: the message is to be skipped. `corrupt`,
// naming the field, for bytes that are not exactly one message of that kind.
[[nodiscard]] Result<std::optional<core::LinkMessage>> decode_link(std::uint8_t kind,
                                                                   ByteView message);

// What is signed: encoded once by the signer, verified as bytes by everybody else, then read.
[[nodiscard]] Bytes encode_declaration_body(const core::DeclarationBody& body);
[[nodiscard]] Result<core::DeclarationBody> decode_declaration_body(ByteView bytes);
[[nodiscard]] Bytes encode_order_body(const core::OrderBody& body);
[[nodiscard]] Result<core::OrderBody> decode_order_body(ByteView bytes);

}  // namespace datum::codec
