# cmake -D NM=<nm> -D OBJECTS=<file with one object per line> -P check_silent.cmake
# The library is silent: no object of ours outside cli/ refers to the standard streams, ends the
# process or reads the environment. Read from the symbol tables, so that macros and inlined code of
# others count too. (std::terminate stays allowed: the compiler itself calls it for noexcept.)
cmake_minimum_required(VERSION 3.25)

set(forbidden
  # C streams, also as the fortified variants __printf_chk and friends.
  stdin stdout stderr "(__)?v?printf(_chk)?" "puts" "putchar(_unlocked)?" "perror" "psignal"
  # C++ streams, and fmt printing to stdout.
  "_ZSt[0-9]w?(cin|cout|cerr|clog)" "_ZSt[0-9](cin|cout|cerr|clog)" "_ZN3fmt.*6?vprintE.*" "_ZN3fmt.*5printE.*"
  # Ending the process.
  abort exit _exit _Exit quick_exit "__assert_fail" "__assert_perror_fail"
  # The environment.
  getenv secure_getenv setenv putenv unsetenv environ __environ)
# A forked child that does not execute a program has no other way out, and _exit ends it alone.
# What an object of a user changed of its process's environment is put back in a worker.
set(allowed "assay_base.*(subprocess|forked|supervise).*: _exit$|assay_worker.*process_state.*: (environ|setenv|unsetenv|clearenv)$")

list(JOIN forbidden "|" forbidden)
file(STRINGS "${OBJECTS}" objects)
set(problems 0)
set(count 0)
foreach(object IN LISTS objects)
  math(EXPR count "${count} + 1")
  execute_process(COMMAND "${NM}" --undefined-only --format=posix "${object}"
    OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" symbols "${symbols}")
  foreach(symbol IN LISTS symbols)
    string(REGEX REPLACE "[@ ].*$" "" symbol "${symbol}")
    if(symbol MATCHES "^(${forbidden})$" AND NOT "${object}: ${symbol}" MATCHES "${allowed}")
      message("${object}: refers to ${symbol}")
      math(EXPR problems "${problems} + 1")
    endif()
  endforeach()
endforeach()
if(count EQUAL 0)
  message(FATAL_ERROR "silent library: no objects were given")
endif()
if(problems)
  message(FATAL_ERROR "silent library: ${problems} problem(s) in ${count} objects")
endif()
message("silent library: ${count} objects")
