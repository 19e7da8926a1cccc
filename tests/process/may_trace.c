/* may_trace: exits with 0 if this user may stop and read processes of its own, as debuggers do. */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    static int theirs = 1;
    int ours = 0;
    /* Tries a grandchild: a user who may trace only its own children may not trace that. */
    int pipes[2];
    pid_t pid = -1;
    if (pipe(pipes))
        return 2;
    const pid_t child = fork();
    if (child == 0) {
        pid = fork();
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            pause();
            _exit(0);
        }
        if (write(pipes[1], &pid, sizeof(pid)) < 0)
            _exit(1);
        pause();
        _exit(0);
    }
    if (child < 0 || read(pipes[0], &pid, sizeof(pid)) != sizeof(pid))
        return 2;
    const struct iovec to = {&ours, sizeof(ours)}, from = {&theirs, sizeof(theirs)};
    int status = 0;
    if (ptrace(PTRACE_SEIZE, pid, NULL, NULL)) {
        perror("ptrace");
        status = 1;
    } else if (process_vm_readv(pid, &to, 1, &from, 1, 0) != sizeof(ours)) {
        perror("process_vm_readv");
        status = 1;
    }
    kill(pid, SIGKILL);
    kill(child, SIGKILL);
    waitpid(pid, NULL, __WALL);
    waitpid(child, NULL, 0);
    return status;
}
