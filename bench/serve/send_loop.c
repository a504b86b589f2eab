/* The ceiling that streams are held against: send_loop COUNT BYTES CONNECTIONS PAUSE_NS sends so
 * many frames over loopback connections in turn, one send(2) each, to a process that reads them as
 * they come, and prints frames a second of the system's CPU time.
 *
 * Without a pause the loop runs ahead of its reader, and the kernel joins frames before they leave:
 * that costs a third of what a token costs that leaves by itself. The pause is user time, which
 * does not count. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static double system_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_stime.tv_sec + 1e-6 * usage.ru_stime.tv_usec;
}

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static int read_all(const struct sockaddr_in* address, int connections) {
  static char buffer[1 << 16];
  struct epoll_event events[64];
  const int poll = epoll_create1(0);
  int open = connections;
  for (int i = 0; i < connections; ++i) {
    struct epoll_event event = {.events = EPOLLIN};
    event.data.fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(event.data.fd, (const struct sockaddr*)address, sizeof *address) != 0 ||
        epoll_ctl(poll, EPOLL_CTL_ADD, event.data.fd, &event) != 0)
      return 1;
  }
  while (open > 0) {
    const int count = epoll_wait(poll, events, 64, -1);
    for (int i = 0; i < count; ++i)
      if (read(events[i].data.fd, buffer, sizeof buffer) <= 0) {
        close(events[i].data.fd);
        --open;
      }
  }
  return 0;
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
