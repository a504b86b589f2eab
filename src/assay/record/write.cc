// Records as text: one problem, and of it one kernel, at a time.

#include "assay/base/file.h"
#include "assay/record/compressed_text.h"
#include "assay/record/record.h"

namespace assay {
namespace {

constexpr std::string_view kCompressedEnding = ".zst";

bool holds_object(const Json& value) {
  if (value.is_object()) return true;
  if (!value.is_array()) return false;
  for (const Json& item : value) {
    if (holds_object(item)) return true;
  }
  return false;
}

// As dump_pretty(), but a list without objects stays on one line: samples are thousands of
// integers.
void dump(const Json& value, int depth, std::string& out) {
  const std::string indent(static_cast<std::size_t>(depth) * 2, ' ');
  if (value.is_object() && !value.empty()) {
    out += "{\n";
    bool first = true;
    for (const auto& [key, item] : value.items()) {
      if (!first) out += ",\n";
      first = false;
      out += indent + "  " + canonical(Json(key)) + ": ";
      dump(item, depth + 1, out);
    }
    out += "\n" + indent + "}";
  } else if (value.is_array() && holds_object(value)) {
    out += "[\n";
    bool first = true;
    for (const Json& item : value) {
      if (!first) out += ",\n";
      first = false;
      out += indent + "  ";
      dump(item, depth + 1, out);
    }
    out += "\n" + indent + "]";
  } else {
    out += canonical(value);
  }
}

// An object's members in their order, one of which is a list that `put_list` writes.
Status dump_around(const Json& object, int depth, std::string_view list, const TextSink& sink,
                   const std::function<Status()>& put_list) {
  const std::string indent(static_cast<std::size_t>(depth) * 2, ' ');
  std::string text = "{";
  bool first = true;
  for (const auto& [key, item] : object.items()) {
    text += first ? "\n" : ",\n";
    first = false;
    text += indent + "  " + canonical(Json(key)) + ": ";
    if (key == list) {
      ASSAY_TRY(sink(text));
      text.clear();
      ASSAY_TRY(put_list());
    } else {
      dump(item, depth + 1, text);
    }
  }
  text += "\n" + indent + "}";
  return sink(text);
}

// A list whose items come one by one.
class ListText {
 public:
  ListText(int depth, const TextSink& sink)
      : indent_(static_cast<std::size_t>(depth) * 2, ' '), sink_(sink) {}
  Status item() { return sink_((std::exchange(any_, true) ? ",\n" : "[\n") + indent_ + "  "); }
  Status end() { return sink_(any_ ? "\n" + indent_ + "]" : "[]"); }

 private:
  std::string indent_;
  const TextSink& sink_;
  bool any_ = false;
};

Status dump_problem(const ProblemRecord& problem, int depth, const TextSink& sink) {
  return dump_around(head_json(problem), depth, "kernels", sink, [&]() -> Status {
    ListText list(depth + 1, sink);
    std::string text;
    for (const KernelOutcome& kernel : problem.kernels) {
      ASSAY_TRY(list.item());
      text.clear();
      dump(to_json(kernel), depth + 2, text);
      ASSAY_TRY(sink(text));
    }
    return list.end();
  });
}

Status dump_record(const RunRecord& head, const EachProblem& problems, const TextSink& sink) {
  ListText list(1, sink);
  const auto put_problem = [&](const ProblemRecord& problem) -> Status {
    ASSAY_TRY(list.item());
    return dump_problem(problem, 2, sink);
  };
  const auto put_problems = [&]() -> Status {
    ASSAY_TRY(problems(put_problem));
    return list.end();
  };
  ASSAY_TRY(dump_around(head_json(head), 0, "problems", sink, put_problems));
  return sink("\n");
}

EachProblem problems_of(const RunRecord& record) {
  return [&record](const auto& take) -> Status {
    for (const ProblemRecord& problem : record.problems) ASSAY_TRY(take(problem));
    return {};
  };
}

}  // namespace

std::string record_text(const RunRecord& record) {
  std::string text;
  // A string takes everything.
  static_cast<void>(dump_record(record, problems_of(record), [&](std::string_view piece) {
    text += piece;
    return Status();
  }));
  return text;
}

namespace {

Status dump_compressed(const RunRecord& head, const EachProblem& problems, const TextSink& sink) {
  Compressor compressor(sink);
  ASSAY_TRY(
      dump_record(head, problems, [&](std::string_view text) { return compressor.put(text); }));
  return compressor.end();
}

}  // namespace

Result<std::string> compressed_record(const RunRecord& record) {
  std::string bytes;
  ASSAY_TRY(dump_compressed(record, problems_of(record), [&](std::string_view piece) {
    bytes += piece;
    return Status();
  }));
  return bytes;
}

Status write_record(const std::string& path, const RunRecord& head, const EachProblem& problems) {
  ASSAY_TRY(AtomicFile file, AtomicFile::create(path));
  const TextSink sink = [&](std::string_view text) { return file.write(text); };
  if (path.ends_with(kCompressedEnding)) {
    ASSAY_TRY(dump_compressed(head, problems, sink));
  } else {
    ASSAY_TRY(dump_record(head, problems, sink));
  }
  return file.commit();
}

Status write_record(const std::string& path, const RunRecord& record) {
  return write_record(path, record, problems_of(record));
}

}  // namespace assay
