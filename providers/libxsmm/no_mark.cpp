// Linked into the shared object in place of open(), of which the library has one use: its constructor
// makes a file in /tmp, by the user's number, as a mark that one process has it. Workers have users
// of their own and may be killed, so such files would stay. As if it could not be made, the library
// goes without.
extern "C" int __wrap_open(const char*, int, ...) { return -1; }
