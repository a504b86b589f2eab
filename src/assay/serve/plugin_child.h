#pragma once

// The process that a backend's shared object is loaded in. Messages over descriptor 3, JSON:
//   to it    {"submit": [id, [prompt], max, min, ignore_eos, seed|null, temperature, top_p]}
//            {"cancel": id}
//   from it  {"ready": [name, context, jobs]}, {"failed": sentence},
//            {"at": ns, "events": [[job, token, finish, logprob, error]]}: one decoding step,
//            {"gone": id}: a job that was cancelled; no event of it follows.

namespace assay::serve {

inline constexpr int kPluginChannelFd = 3;

// The role, `backend LIBRARY MODEL FOLDER MODEL_FOLDER VOCABULARY`: main() of that process.
int plugin_child_main(int argc, char** argv);

}  // namespace assay::serve
