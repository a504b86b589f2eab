/* What streams cost without a server: paced_loop STREAMS SECONDS BYTES SENDER READER sends a frame
 * to each of so many loopback connections every 10 ms, one send(2) each, from one core, to a
 * process on the other that reads them as they come. It prints microseconds of a send, and how
 * many milliseconds later than due they left: half of them and 99 % at most. */
#define _GNU_SOURCE
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reader.h"

static const long long gap_ns = 10000000, worth_sleeping_ns = 30000;

static void use_core(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  sched_setaffinity(0, sizeof cores, &cores);
}

static int by_size(const void* left, const void* right) {
  const long long a = *(const long long*)left, b = *(const long long*)right;
  return (a > b) - (a < b);
}

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  const int streams = atoi(argv[1]), at_once = 1;
  const long bytes = atol(argv[3]), count = (long)(atof(argv[2]) * 1e9 / gap_ns) * streams;
  const struct rlimit descriptors = {streams + 64, streams + 64};
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  setrlimit(RLIMIT_NOFILE, &descriptors);
  if (streams < 1 || count < 1 || bind(listener, (struct sockaddr*)&address, sizeof address) != 0 ||
      listen(listener, streams) != 0 ||
      getsockname(listener, (struct sockaddr*)&address, &size) != 0)
    return 1;
  if (fork() == 0) {
    use_core(atoi(argv[5]));
    _exit(read_all(&address, streams));
  }
  use_core(atoi(argv[4]));
  int* peers = malloc(streams * sizeof *peers);
  for (int i = 0; i < streams; ++i) {
    peers[i] = accept(listener, NULL, NULL);
    if (setsockopt(peers[i], IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once) != 0) return 1;
  }
  char* frame = malloc(bytes);
  memset(frame, 'x', bytes);
  long long* late = malloc(count * sizeof *late);
  long long sending = 0;
  const long long begin = now_ns() + gap_ns;
  for (long i = 0; i < count; ++i) {
    const long long due = begin + i / streams * gap_ns + i % streams * gap_ns / streams;
    long long now = now_ns();
    while (now < due) {
      const struct timespec until = {due / 1000000000, due % 1000000000};
      if (due - now > worth_sleeping_ns)
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
      now = now_ns();
    }
    late[i] = now - due;
    if (send(peers[i % streams], frame, bytes, MSG_NOSIGNAL) != bytes) return 1;
    sending += now_ns() - now;
  }
  for (int i = 0; i < streams; ++i) close(peers[i]);
  wait(NULL);
  qsort(late, count, sizeof *late, by_size);
  printf("%.2f %.2f %.2f\n", sending / 1e3 / count, late[count / 2] / 1e6,
         late[count / 100 * 99] / 1e6);
  return 0;
}
