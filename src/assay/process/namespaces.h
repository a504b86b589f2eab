#pragma once

#include <string>

namespace assay::sweep {

struct Namespaces {
  bool processes = false;  // Of children: the first will be the init of their process namespace.
  bool mounts = false;     // Private ones; nothing about them has changed yet.
  bool users = false;      // A user namespace: capabilities mean nothing outside.
  std::string why;         // What the system said where one of them is missing.
};

// Goes into namespaces of its own as far as this process may, with a user namespace first where it
// has not the right otherwise.
Namespaces enter_namespaces();

// In a child: a /proc that shows the new process namespace alone. False where the system refuses
// (containers that hide parts of /proc).
bool mount_own_proc();

// In a child: every file system becomes read-only here, and /dev/shm a new one, which is not.
bool mount_all_read_only();

// Of this thread, and those that it starts: no file of /proc is opened to be written from now on,
// the one of its own memory included, and nothing is mounted any more. False where the system has
// no Landlock (Linux 5.13).
bool forbid_writing_to_proc();

}  // namespace assay::sweep
