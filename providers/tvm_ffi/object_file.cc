#include "object_file.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <optional>
#include <utility>

namespace assay::tvm_ffi {
namespace {

#if defined(__x86_64__)
constexpr auto kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr auto kMachine = EM_AARCH64;
#else
constexpr auto kMachine = EM_NONE;
#endif

constexpr size_t kMostNames = 100'000;
constexpr size_t kMostNameBytes = 4096, kMostBytesOfNames = size_t{64} << 20;

class Reader {
 public:
  explicit Reader(std::string_view content) : content_(content) {}

  Result<ObjectFile> read() {
    Elf64_Ehdr header;
    if (!content_.starts_with(ELFMAG)) return wrong("it is no shared object (ELF)");
    if (!take(0, header)) return wrong("it ends within its header");
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_machine != kMachine)
      return wrong("it was built for another kind of processor");
    if (header.e_type != ET_DYN)
      return wrong(
          header.e_type == ET_REL
              ? "it is an object file that was not linked yet; link it: c++ -shared -o x.so "
                "x.o"
              : "it is no shared object; link it with -shared");
    if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum == 0)
      return wrong("it has no section table, so that its entry points cannot be listed");
    bool has_symbols = false, has_needed = false;  // The linker makes one table of each.
    for (uint64_t i = 0; i < header.e_shnum; ++i) {
      Elf64_Shdr section;
      if (!take(header.e_shoff + i * sizeof section, section))
        return wrong("it is cut short: its section table lies beyond its end");
      const bool symbols = section.sh_type == SHT_DYNSYM;
      if (!symbols && section.sh_type != SHT_DYNAMIC) continue;
      if (std::exchange(symbols ? has_symbols : has_needed, true))
        return wrong("it has several tables of dynamic symbols, where a linker makes one");
      Elf64_Shdr strings;
      if (!take(header.e_shoff + uint64_t{section.sh_link} * sizeof strings, strings) ||
          !bytes(strings) || !bytes(section))
        return wrong("it is cut short: a table of names lies beyond its end");
      if (symbols)
        add_entries(*bytes(section), *bytes(strings));
      else
        add_needed(*bytes(section), *bytes(strings));
      if (name_bytes_ > kMostBytesOfNames)
        return wrong("its names are longer than those of any library (64 MiB)");
    }
    std::sort(object_.entries.begin(), object_.entries.end());
    return std::move(object_);
  }

 private:
  static tl::unexpected<Error> wrong(std::string_view sentence) {
    return fail(ErrorCode::invalid_input, "{}", sentence);
  }

  template <class Record>
  bool take(uint64_t at, Record& record) const {
    if (at > content_.size() || content_.size() - at < sizeof record) return false;
    std::memcpy(&record, content_.data() + at, sizeof record);
    return true;
  }

  std::optional<std::string_view> bytes(const Elf64_Shdr& section) const {
    if (section.sh_offset > content_.size() ||
        section.sh_size > content_.size() - section.sh_offset)
      return std::nullopt;
    return content_.substr(section.sh_offset, section.sh_size);
  }

  // Empty where there is none.
  static std::string_view name_at(std::string_view strings, uint64_t at) {
    if (at >= strings.size()) return {};
    const std::string_view rest = strings.substr(at, kMostNameBytes);
    return rest.substr(0, rest.find('\0'));
  }

  template <class Record, class Take>
  static void each(std::string_view table, const Take& take) {
    for (size_t at = 0; table.size() - at >= sizeof(Record); at += sizeof(Record)) {
      Record record;
      std::memcpy(&record, table.data() + at, sizeof record);
      take(record);
    }
  }

  void add_entries(std::string_view table, std::string_view strings) {
    each<Elf64_Sym>(table, [&](const Elf64_Sym& symbol) {
      const int type = ELF64_ST_TYPE(symbol.st_info);
      if (name_bytes_ > kMostBytesOfNames || symbol.st_shndx == SHN_UNDEF ||
          ELF64_ST_BIND(symbol.st_info) == STB_LOCAL ||
          (type != STT_FUNC && type != STT_GNU_IFUNC) || object_.entries.size() >= kMostNames)
        return;
      if (!strings.substr(std::min<size_t>(symbol.st_name, strings.size())).starts_with(kPrefix))
        return;
      const std::string_view name = name_at(strings, symbol.st_name);
      if (name.size() == kPrefix.size()) return;
      name_bytes_ += name.size();
      object_.entries.emplace_back(name.substr(kPrefix.size()));
    });
  }

  void add_needed(std::string_view table, std::string_view strings) {
    each<Elf64_Dyn>(table, [&](const Elf64_Dyn& item) {
      if (name_bytes_ > kMostBytesOfNames || item.d_tag != DT_NEEDED ||
          object_.needed.size() >= kMostNames)
        return;
      const std::string_view name = name_at(strings, item.d_un.d_val);
      name_bytes_ += name.size();
      if (!name.empty()) object_.needed.emplace_back(name);
    });
  }

  std::string_view content_;
  ObjectFile object_;
  size_t name_bytes_ = 0;  // Of those that were taken.
};

}  // namespace

Result<ObjectFile> parse_object(std::string_view content) { return Reader(content).read(); }

}  // namespace assay::tvm_ffi
