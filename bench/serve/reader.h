/* What both loops of send(2) have: a clock, and the process that reads what they send. */
#pragma once

#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <arpa/inet.h>

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ll + now.tv_nsec;
}

/* Opens so many connections there and reads until each has ended. */
static int read_all(const struct sockaddr_in* address, int streams) {
  static char buffer[1 << 16];
  struct epoll_event events[64];
  const int poll = epoll_create1(0);
  int open = streams;
  for (int i = 0; i < streams; ++i) {
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
