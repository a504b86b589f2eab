#pragma once

// What signals do to this program.

namespace assay::cli {

// A reader that went away, or a limit on file sizes, is an error of the write that meets it.
void make_writes_fail_instead();

// Ctrl-C and a polite kill become a readable descriptor, so that nothing is interrupted half way.
// It is open as long as the process.
int make_cancel_fd();

// All of them kill again, for a program that takes this one's place.
void give_back_signals();

}  // namespace assay::cli
