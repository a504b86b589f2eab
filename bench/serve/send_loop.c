/* The ceiling that streams are held against: send_loop COUNT BYTES sends so many frames over a
 * loopback connection, one send(2) each, and prints frames a CPU second. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static double cpu_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
         1e-6 * (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const long count = atol(argv[1]), bytes = atol(argv[2]);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listener, (struct sockaddr*)&address, sizeof address) != 0 || listen(listener, 1) != 0 ||
      getsockname(listener, (struct sockaddr*)&address, &size) != 0)
    return 1;
  const pid_t reader = fork();
  if (reader == 0) {
    static char buffer[1 << 18];
    const int from = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(from, (struct sockaddr*)&address, sizeof address) != 0) _exit(1);
    while (read(from, buffer, sizeof buffer) > 0) {
    }
    _exit(0);
  }
  const int to = accept(listener, NULL, NULL);
  char* frame = malloc(bytes);
  memset(frame, 'x', bytes);
  const double before = cpu_seconds();
  for (long i = 0; i < count; ++i)
    if (send(to, frame, bytes, MSG_NOSIGNAL) != bytes) return 1;
  printf("%.0f\n", count / (cpu_seconds() - before));
  return 0;
}
