// Reading and writing of one message.
#include <algorithm>
#include <utility>

#include "bus.hpp"

namespace datum::os_linux {

Message::Message(Message&& other) noexcept
    : library_(other.library_),
      message_(std::exchange(other.message_, nullptr)),
      fault_(other.fault_) {}

Message& Message::operator=(Message&& other) noexcept {
  std::swap(library_, other.library_);
  std::swap(message_, other.message_);
  std::swap(fault_, other.fault_);
  return *this;
}

Message::~Message() {
  if (message_ != nullptr) library_->message_unref(message_);
}

Status Message::status() const {
  if (fault_ >= 0) return {};
  return fail(error_from_errno(-fault_, "message of the service manager"));
}

void Message::note(int result) {
  if (result < 0 && fault_ == 0) fault_ = result;
}

Message& Message::add(const std::string& text) {
  if (fault_ == 0) note(library_->append_basic(message_, 's', text.c_str()));
  return *this;
}

Message& Message::add(bool flag) {
  const int value = flag ? 1 : 0;
  if (fault_ == 0) note(library_->append_basic(message_, 'b', &value));
  return *this;
}

Message& Message::open(char type, const char* contents) {
  if (fault_ == 0) note(library_->open_container(message_, type, contents));
  return *this;
}

Message& Message::close() {
  if (fault_ == 0) note(library_->close_container(message_));
  return *this;
}

Message& Message::add_list(const std::vector<std::string>& texts) {
  open('a', "s");
  for (const auto& text : texts) add(text);
  return close();
}

bool Message::enter(char type, const char* contents) {
  if (fault_ != 0) return false;
  const int entered = library_->enter_container(message_, type, contents);
  note(entered);
  return entered > 0;
}

void Message::leave() {
  if (fault_ == 0) note(library_->exit_container(message_));
}

std::string Message::read_text(char type) {
  const char* text = nullptr;
  if (fault_ == 0) note(library_->read_basic(message_, type, &text));
  return text == nullptr ? std::string() : std::string(text);
}

bool Message::read_flag() {
  int flag = 0;
  if (fault_ == 0) note(library_->read_basic(message_, 'b', &flag));
  return flag != 0;
}

std::uint64_t Message::read_number(char type) {
  // The widest type that is read: a narrower one fills its lower bytes.
  union {
    std::uint64_t u64 = 0;
    std::uint32_t u32;
    std::int32_t i32;
  } number;
  if (fault_ == 0) note(library_->read_basic(message_, type, &number));
  if (type == 't') return number.u64;
  if (type == 'i') return static_cast<std::uint64_t>(static_cast<std::int64_t>(number.i32));
  return number.u32;
}

std::vector<std::string> Message::read_list() {
  std::vector<std::string> texts;
  if (!enter('a', "s")) return texts;
  while (fault_ == 0) {
    const char* text = nullptr;
    const int read = library_->read_basic(message_, 's', &text);
    note(read);
    if (read <= 0) break;
    texts.emplace_back(text);
  }
  leave();
  return texts;
}

std::string Message::read_hex() {
  static constexpr char kDigits[] = "0123456789abcdef";
  const void* bytes = nullptr;
  std::size_t size = 0;
  if (fault_ == 0) note(library_->read_array(message_, 'y', &bytes, &size));
  std::string text;
  for (std::size_t i = 0; fault_ == 0 && i < size; ++i) {
    const auto byte = static_cast<const unsigned char*>(bytes)[i];
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string Message::peek_contents() {
  char type = 0;
  const char* contents = nullptr;
  if (fault_ != 0) return {};
  const int peeked = library_->peek_type(message_, &type, &contents);
  note(peeked);
  return peeked > 0 && contents != nullptr ? std::string(contents) : std::string();
}

void Message::skip(const std::string& contents) {
  if (fault_ == 0) note(library_->skip(message_, contents.c_str()));
}

}  // namespace datum::os_linux
