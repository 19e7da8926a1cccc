/*
 * pause: reads a heap dump from a FIFO, and in the middle of it runs a command while the process
 * that dumps itself stands still. So the command sees the process as the dump has it.
 *
 *   pause [--last] FIFO PID REFERENCE COMMAND [ARGUMENT]...
 *
 * The dump goes to the file REFERENCE; an argument {} becomes the PID. The moment is behind all
 * objects, at the first goroutine, when a thread waits in write(2) on a full pipe. The command may
 * stop the process by ptrace, which interrupts the system call. The call is then restarted, unless
 * the pipe has taken a part of the write: then it returns, and WriteHeapDump loses the rest. So the
 * write has to be one of at most PIPE_BUF bytes, which a pipe takes whole or not at all.
 *
 * With --last the command ends the process: the moment is behind data and bss, and the records that
 * WriteHeapDump would write behind them are not in the file.
 *
 * Exit status: the command's, or 125 if there was no such moment or the dump is not whole.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FAILED = 125, PAGE = 4096 };
enum {
    TAG_OBJECT = 1,
    TAG_OTHERROOT,
    TAG_TYPE,
    TAG_GOROUTINE,
    TAG_STACKFRAME,
    TAG_PARAMS,
    TAG_ITAB = 8,
    TAG_OSTHREAD,
    TAG_DATA = 12,
    TAG_BSS,
    TAG_DEFER,
    TAG_PANIC
};

static int fifo, reference;
static uint8_t buffer[PAGE];
static size_t at, filled;
static bool ended;

__attribute__((noreturn, format(printf, 1, 2))) static void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("pause: ", stderr);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(FAILED);
}

/* Reads the next part of the dump, and copies it to the file. It reads at most a page, so that the
 * writer is not far ahead. */
static void fill(void)
{
    ssize_t n;
    do
        n = read(fifo, buffer, sizeof(buffer));
    while (n < 0 && errno == EINTR);
    if (n < 0)
        fail("the FIFO: %s", strerror(errno));
    at = 0;
    filled = (size_t)n;
    ended = n == 0;
    for (size_t written = 0; written < filled;) {
        n = write(reference, buffer + written, filled - written);
        if (n < 0)
            fail("the reference: %s", strerror(errno));
        written += (size_t)n;
    }
}

static uint8_t byte(void)
{
    if (at == filled)
        fill();
    if (ended)
        fail("the dump ended before the moment");
    return buffer[at++];
}

static uint64_t number(void)
{
    uint64_t ret = 0;
    for (int shift = 0;; shift += 7) {
        const uint8_t b = byte();
        ret |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80)
            return ret;
    }
}

static void skip(uint64_t n)
{
    while (n) {
        if (at == filled)
            fill();
        if (ended)
            fail("the dump ended before the moment");
        const size_t step = filled - at < n ? filled - at : (size_t)n;
        at += step;
        n -= step;
    }
}

static void numbers(int n)
{
    while (n--)
        number();
}

static void fields(void)
{
    while (number() != 0)
        numbers(1);
}

/* Reads a record behind its tag. */
static void read_record(uint64_t tag)
{
    switch (tag) {
    case TAG_OBJECT:
    case TAG_DATA:
    case TAG_BSS:
        numbers(1);
        skip(number());
        fields();
        break;
    case TAG_OTHERROOT:
        skip(number());
        numbers(1);
        break;
    case TAG_TYPE:
        numbers(2);
        skip(number());
        numbers(1);
        break;
    case TAG_GOROUTINE:
        numbers(8);
        skip(number());
        numbers(4);
        break;
    case TAG_STACKFRAME:
        numbers(3);
        skip(number());
        numbers(3);
        skip(number());
        fields();
        break;
    case TAG_PARAMS:
        numbers(4);
        skip(number());
        skip(number());
        numbers(1);
        break;
    case TAG_ITAB:
        numbers(2);
        break;
    case TAG_OSTHREAD:
        numbers(3);
        break;
    case TAG_DEFER:
        numbers(7);
        break;
    case TAG_PANIC:
        numbers(6);
        break;
    default:
        fail("tag %" PRIu64 " where the moment should come", tag);
    }
}

/* Reads all records before the first one with a tag, and that tag. */
static void read_to(uint64_t wanted)
{
    while (byte() != '\n')
        ;
    for (uint64_t tag; (tag = number()) != wanted;)
        read_record(tag);
}

/* Returns whether a descriptor of the process is the FIFO. */
static bool is_fifo(const char *pid, uint64_t descriptor)
{
    char path[64];
    struct stat theirs, ours;
    snprintf(path, sizeof(path), "/proc/%s/fd/%" PRIu64, pid, descriptor);
    return stat(path, &theirs) == 0 && fstat(fifo, &ours) == 0 && theirs.st_dev == ours.st_dev &&
           theirs.st_ino == ours.st_ino;
}

/* Returns the size of the write to the FIFO in which a thread of the process waits, or 0 if none
 * does. */
static uint64_t waiting_write(const char *pid)
{
    char path[64 + NAME_MAX], line[256];
    uint64_t ret = 0;
    snprintf(path, sizeof(path), "/proc/%s/task", pid);
    DIR *tasks = opendir(path);
    if (!tasks)
        fail("%s: %s", path, strerror(errno));
    for (struct dirent *entry; ret == 0 && (entry = readdir(tasks));) {
        long call;
        uint64_t descriptor, address, size;
        snprintf(path, sizeof(path), "/proc/%s/task/%s/syscall", pid, entry->d_name);
        FILE *file = fopen(path, "r");
        if (!file)
            continue;
        if (fgets(line, sizeof(line), file) &&
            sscanf(line, "%ld 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64, &call, &descriptor, &address,
                   &size) == 4 &&
            call == SYS_write && is_fifo(pid, descriptor))
            ret = size;
        fclose(file);
    }
    closedir(tasks);
    return ret;
}

/* Returns whether a process exists and is no zombie. */
static bool is_alive(const char *pid)
{
    char path[64], line[512] = "";
    snprintf(path, sizeof(path), "/proc/%s/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    const bool has_line = fgets(line, sizeof(line), file) != NULL;
    fclose(file);
    const char *state = strrchr(line, ')');
    return has_line && state && state[2] != 'Z' && state[2] != 'X';
}

/* Opens the FIFO, and waits until somebody has written to it. */
static void open_fifo(const char *path, const char *pid)
{
    enum { MILLISECONDS = 100 };
    fifo = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fifo < 0)
        fail("%s: %s", path, strerror(errno));
    fcntl(fifo, F_SETPIPE_SZ, PAGE);
    for (struct pollfd wait = {.fd = fifo, .events = POLLIN};
         poll(&wait, 1, MILLISECONDS) <= 0 || !(wait.revents & POLLIN);)
        if (!is_alive(pid))
            fail("process %s ended before its dump", pid);
    fcntl(fifo, F_SETFL, fcntl(fifo, F_GETFL) & ~O_NONBLOCK);
}

static void run(const char *pid, char **command)
{
    for (char **argument = command; *argument; argument++)
        if (strcmp(*argument, "{}") == 0)
            *argument = (char *)pid;
    execvp(command[0], command);
    fprintf(stderr, "pause: %s: %s\n", command[0], strerror(errno));
    _exit(FAILED);
}

int main(int argc, char **argv)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    int status;
    const bool is_last = argc > 1 && strcmp(argv[1], "--last") == 0;
    argv += is_last;
    if (argc - is_last < 5)
        fail("usage: pause [--last] FIFO PID REFERENCE COMMAND [ARGUMENT]...");
    const char *pid = argv[2];
    open_fifo(argv[1], pid);
    reference = open(argv[3], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (reference < 0)
        fail("%s: %s", argv[3], strerror(errno));
    read_to(is_last ? TAG_BSS : TAG_GOROUTINE);
    if (is_last)
        read_record(TAG_BSS);
    /* The writer runs until the pipe is full; then it waits until somebody reads. */
    for (uint64_t size; (size = waiting_write(pid)) == 0 || size > PIPE_BUF;) {
        if (size > PIPE_BUF)
            fill();
        else
            nanosleep(&moment, NULL);
        if (ended)
            fail("the dump ended without a small write");
    }
    const pid_t child = fork();
    if (child < 0)
        fail("fork: %s", strerror(errno));
    if (child == 0)
        run(pid, argv + 4);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    while (!ended && !is_last)
        fill();
    if (close(reference))
        fail("the reference: %s", strerror(errno));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
