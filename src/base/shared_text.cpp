// One allocation for the count, the size, the bytes and a NUL.
#include "datum/base/shared_text.hpp"

#include "datum/base/assert.hpp"

namespace datum {

SharedText::Block* SharedText::make(std::string_view text) {
  if (text.empty()) return nullptr;
  DATUM_ASSERT(text.size() < UINT32_MAX);
  void* memory = ::operator new(sizeof(Block) + text.size() + 1);
  auto* block = new (memory) Block{{1}, static_cast<std::uint32_t>(text.size())};
  std::memcpy(block->bytes(), text.data(), text.size());
  block->bytes()[text.size()] = '\0';
  return block;
}

}  // namespace datum
