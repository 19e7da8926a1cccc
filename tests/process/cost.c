/*
 * cost: runs a command, and prints what it cost: the most memory that it had, in kilobytes; how
 * often the kernel had to give it a page; and how many bytes it has read and written by system
 * calls, or "-" if the kernel does not count them. None of that depends on other processes, and
 * there are no huge pages, whose number would.
 *
 *   cost COMMAND [ARGUMENT]...
 *   cost --become COMMAND [ARGUMENT]...     becomes the command, which gets no huge pages either
 *   cost --zeros                            succeeds if memory that was read and never written to
 *                                           takes none: not all kernels have a page of zeros
 *
 * Its exit status is 0 if the command's is. The memory is that of the command alone: a child of a
 * large process would begin with the peak of its parent.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int become(char **command)
{
    if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0)
        perror("PR_SET_THP_DISABLE");
    execvp(command[0], command);
    perror(command[0]);
    return 127;
}

/* Writes the bytes of a process that has ended, but was not waited for. */
static void bytes_of(pid_t pid, char *ret, size_t size)
{
    char path[64];
    uint64_t read, written;
    snprintf(path, sizeof(path), "/proc/%d/io", (int)pid);
    snprintf(ret, size, "-");
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "rchar: %" SCNu64 " wchar: %" SCNu64, &read, &written) == 2)
        snprintf(ret, size, "%" PRIu64, read + written);
    if (file)
        fclose(file);
}

static bool has_zeros(void)
{
    enum { SIZE = 64 << 20 };
    struct rusage before, after;
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    volatile char *memory =
        mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    getrusage(RUSAGE_SELF, &before);
    for (size_t at = 0; at < SIZE; at += 4096)
        (void)memory[at];
    getrusage(RUSAGE_SELF, &after);
    return after.ru_maxrss - before.ru_maxrss < SIZE / 2 >> 10;
}

int main(int argc, char **argv)
{
    struct rusage usage;
    siginfo_t info;
    char bytes[32];
    int status;
    if (argc > 1 && strcmp(argv[1], "--zeros") == 0)
        return has_zeros() ? 0 : 1;
    if (argc > 2 && strcmp(argv[1], "--become") == 0)
        return become(argv + 2);
    const pid_t child = argc > 1 ? fork() : -1;
    if (child == 0)
        _exit(become(argv + 1));
    if (child < 0 || waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) != 0)
        return 1;
    bytes_of(child, bytes, sizeof(bytes));
    if (waitpid(child, &status, 0) != child)
        return 1;
    getrusage(RUSAGE_CHILDREN, &usage);
    printf("%ld %ld %s\n", usage.ru_maxrss, usage.ru_minflt, bytes);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}
