// adopt --print: documents for what is on the machine. Looks, prints or writes into a new folder;
// opens no store and changes nothing.
#include <sys/stat.h>

#include <cerrno>
#include <set>

#include "adopted_document.hpp"
#include "commands.hpp"
#include "datum/program/session.hpp"
#include "datum/text/terminal.hpp"
#include "datum/yaml/scalar.hpp"
#include "durable_file.hpp"
#include "print.hpp"

namespace datum::program {

namespace {

// What is put into a fleet is for everybody who reads the fleet; files made here are their
// owner's, until the owner says otherwise.
constexpr mode_t kFolderMode = 0755;

class NothingDeclared final : public ContentSource {
 public:
  [[nodiscard]] Result<std::unique_ptr<ByteSource>> open(const Digest&) const override {
    return fail(ErrorCode::not_found, "nothing is declared here");
  }
};

Status make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), kFolderMode) != 0) return fail(error_from_errno(errno, path));
  return {};
}

Status write_file(const std::string& path, std::string_view text) {
  DATUM_ASSIGN(auto file, DurableFile::create(path));
  DATUM_TRY(file.write(as_bytes(text)));
  return file.commit();
}

// `source` is relative to the layer's folder, so the folder is one.
std::string layer_document(const std::string& folder) {
  std::string name(folder.substr(folder.rfind('/') + 1));
  for (char& c : name)
    if (!model::is_document_name(std::string_view(&c, 1))) c = '-';
  return "# What was on a machine already. Every host gets it, until somebody adds a match.\n"
         "datum: v1alpha1\ntype: Layer\nname: " +
         yaml::quoted(name.substr(0, model::kMaxName)) + "\n";
}

Status write_all(const std::string& folder, const std::string& documents,
                 const std::vector<ContentFile>& contents) {
  DATUM_TRY(make_folder(folder));
  if (!contents.empty()) DATUM_TRY(make_folder(folder + "/" + kContentFolder));
  for (const auto& one : contents) DATUM_TRY(write_file(folder + "/" + one.path, one.bytes));
  DATUM_TRY(write_file(folder + "/layer.yaml", layer_document(folder)));
  return write_file(folder + "/adopted.yaml", documents);
}

Result<int> run_adoption(const Arguments& arguments) {
  if (!arguments.print || arguments.files.empty())
    return fail(ErrorCode::invalid_argument,
                arguments.command_line + ": name what is there, and give --print");
  DATUM_ASSIGN(auto session, open_session(arguments));
  const auto machine = make_machine(session, std::make_shared<const NothingDeclared>(), {});
  AdoptedDocuments documents(!arguments.into.empty());
  bool failed = false;
  for (const auto& name : std::set<std::string>(arguments.files.begin(), arguments.files.end())) {
    const auto portraits = resource::portray(*machine, name);
    auto added = portraits ? Status() : Status(fail(portraits.error()));
    for (std::size_t i = 0; added && i < portraits->size(); ++i)
      added = documents.add((*portraits)[i]);
    if (added) continue;
    failed = true;
    std::fprintf(stderr, "datum: %s\n", text::escape(added.error().message()).c_str());
  }
  if (arguments.into.empty()) {
    print(documents.text());
  } else if (!failed) {
    DATUM_TRY(write_all(absolute_path(arguments.into), documents.text(), documents.contents()));
  }
  return failed ? 1 : 0;
}

}  // namespace

int adopt_command(const Arguments& arguments) {
  return finish(run_adoption(arguments));
}

}  // namespace datum::program
