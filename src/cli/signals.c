/* signals; see signals.h. */
#include "cli/signals.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <go2heapsnapshot/input.h>

#include "base/printable.h"
#include "cli/options.h"
#include "cli/target.h"

bool signals_occupy_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            continue;
        const int mode = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
        if (open("/dev/null", mode) != fd && open("/", O_RDONLY | O_DIRECTORY) != fd)
            return false;
    }
    return true;
}

static const char *program; /* for messages */

/* Handles unreadable bytes of a mapped file. Several threads may hit such bytes. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
    static bool is_told;
    char text[8192];
    const bool is_fault = info->si_code > 0; /* no process has sent it */
    const char *name = "", *why = is_fault ? g2h_input_fault(info->si_addr, &name) : NULL;
    (void)context;
    if (!why) { /* the address is in no input */
        target_remove_unfinished();
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    while (__atomic_exchange_n(&is_told, true, __ATOMIC_SEQ_CST))
        pause();
    target_remove_unfinished();
    const char *const parts[] = {program, ": ", name, ": ", why};
    size_t size = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        for (const char *at = parts[i]; *at && size < sizeof(text) - 1; at++)
            text[size++] = *at;
    size = g2h_printable(text, size);
    text[size++] = '\n';
    if (write(STDERR_FILENO, text, size) < 0)
        _exit(EXIT_FAILED);
    _exit(EXIT_FAILED);
}

static void on_end(int number)
{
    target_remove_unfinished();
    signal(number, SIG_DFL);
    raise(number);
}

void signals_catch(const char *name)
{
    enum { SIGNALS = 31 }; /* numbers above are real-time signals, which are not sent here */
    static const int others[] = {SIGKILL, SIGSTOP, SIGCHLD, SIGCONT,  SIGTSTP,
                                 SIGTTIN, SIGTTOU, SIGURG,  SIGWINCH, SIGBUS};
    struct sigaction old, bus = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
    program = name;
    signal(SIGXFSZ, SIG_IGN); /* so writing fails with a message instead */
    for (int number = 1; number <= SIGNALS; number++) {
        bool is_other = sigaction(number, NULL, &old) < 0 || old.sa_handler != SIG_DFL;
        for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
            is_other = is_other || number == others[i];
        if (!is_other)
            signal(number, on_end);
    }
    sigaction(SIGBUS, &bus, NULL);
}
