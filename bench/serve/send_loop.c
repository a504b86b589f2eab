/* The ceiling that streams are held against: send_loop COUNT BYTES CONNECTIONS PAUSE_NS sends so
 * many frames over loopback connections in turn, one send(2) each, to a process that reads them as
 * they come, and prints frames a second of the system's CPU time.
 *
 * Without a pause the loop runs ahead of its reader, and the kernel joins frames before they leave:
 * that costs a third of what a token costs that leaves by itself. The pause is user time, which
 * does not count. */
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "reader.h"

static double system_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_stime.tv_sec + 1e-6 * usage.ru_stime.tv_usec;
}

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const long count = atol(argv[1]), bytes = atol(argv[2]);
  const int connections = atoi(argv[3]), at_once = 1;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  if (connections < 1 || bind(listener, (struct sockaddr*)&address, sizeof address) != 0 ||
      listen(listener, connections) != 0 ||
      getsockname(listener, (struct sockaddr*)&address, &size) != 0)
    return 1;
  if (fork() == 0) _exit(read_all(&address, connections));
  int* peers = malloc(connections * sizeof *peers);
  for (int i = 0; i < connections; ++i) {
    peers[i] = accept(listener, NULL, NULL);
    if (setsockopt(peers[i], IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once) != 0) return 1;
  }
  char* frame = malloc(bytes);
  memset(frame, 'x', bytes);
  const long long pause = atoll(argv[4]);
  const double before = system_seconds();
  for (long i = 0; i < count; ++i) {
    for (const long long until = now_ns() + pause; now_ns() < until;) {
    }
    if (send(peers[i % connections], frame, bytes, MSG_NOSIGNAL) != bytes) return 1;
  }
  printf("%.0f\n", count / (system_seconds() - before));
  return 0;
}
