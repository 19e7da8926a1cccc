/* Loaded into the program by at-death.sh: PTRACE_SEIZE of a thread takes so long, except for the
 * first time, that the thread has called execve() meanwhile, and has the number of its process:
 * then it is seized by that, as the kernel does which lets PTRACE_SEIZE wait for an execve(). */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <unistd.h>

static pid_t process_of(pid_t thread)
{
    char path[64], line[256];
    int process = 0;
    snprintf(path, sizeof(path), "/proc/%d/status", (int)thread);
    FILE *file = fopen(path, "r");
    while (file && process == 0 && fgets(line, sizeof(line), file))
        (void)sscanf(line, "Tgid: %d", &process);
    if (file)
        fclose(file);
    return process;
}

long ptrace(enum __ptrace_request request, ...)
{
    static unsigned seized;
    va_list list;
    va_start(list, request);
    pid_t thread = va_arg(list, pid_t);
    void *address = va_arg(list, void *), *data = va_arg(list, void *);
    va_end(list);
    long (*next)(enum __ptrace_request, pid_t, void *, void *);
    *(void **)&next = dlsym(RTLD_NEXT, "ptrace");
    if (request == PTRACE_SEIZE && seized++ > 0) {
        char path[64];
        const pid_t process = process_of(thread);
        snprintf(path, sizeof(path), "/proc/%d", (int)thread);
        for (unsigned tries = 0; tries < 100 && process != thread && access(path, F_OK) == 0;
             tries++)
            usleep(10000);
        if (process != 0 && process != thread && access(path, F_OK) != 0)
            thread = process;
    }
    return next(request, thread, address, data);
}
