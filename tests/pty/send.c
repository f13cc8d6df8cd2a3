/* send SOCKET: sends what comes on standard input to a UNIX socket and takes what comes back, until the other end
 * closes or nothing came for two seconds. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    char chunk[1 << 16];
    if (argc != 2 || strlen(argv[1]) >= sizeof to.sun_path)
        return 98;
    strcpy(to.sun_path, argv[1]);
    signal(SIGPIPE, SIG_IGN);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(fd, (const struct sockaddr *)&to, sizeof to) != 0)
        return 1;
    for (ssize_t n; (n = read(STDIN_FILENO, chunk, sizeof chunk)) > 0;)
        if (send(fd, chunk, (size_t)n, 0) != n)
            break;
    for (struct pollfd f = {.fd = fd, .events = POLLIN}; poll(&f, 1, 2000) > 0;)
        if (read(fd, chunk, sizeof chunk) <= 0)
            break;
    return 0;
}
