/*
 * filtered: runs a program under a seccomp filter.
 *
 *   filtered ACTION PROGRAM [ARGUMENT]...
 *
 * The filter answers clone(2), unless it makes a thread, by the action: allow, errno, trap, kill
 * or, for a filter that answers wait4(2) so, kill-wait. It allows everything else.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_wait4
#define SYS_wait4 260
#endif

static uint32_t action_of(const char *name)
{
    if (strcmp(name, "allow") == 0)
        return SECCOMP_RET_ALLOW;
    if (strcmp(name, "errno") == 0)
        return SECCOMP_RET_ERRNO | 1;
    return strcmp(name, "trap") == 0 ? SECCOMP_RET_TRAP : SECCOMP_RET_KILL_PROCESS;
}

int main(int argc, char **argv)
{
    enum { THREAD = 0x10000 /* CLONE_THREAD */ };
    if (argc < 3)
        return 2;
    const uint32_t action = action_of(argv[1]);
    const int is_wait = strcmp(argv[1], "kill-wait") == 0;
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_STMT(BPF_ALU | BPF_XOR | BPF_K, 0xffffffff), /* not needed: instructions of all kinds */
        BPF_STMT(BPF_MISC | BPF_TAX, 0),
        BPF_STMT(BPF_STX, 3),
        BPF_STMT(BPF_LD | BPF_MEM, 3),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ~(uint32_t)AUDIT_ARCH_X86_64, 0, 5),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, is_wait ? SYS_wait4 : SYS_clone, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, is_wait ? 0 : THREAD, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, action),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        perror("seccomp");
        return 77;
    }
    execv(argv[2], argv + 2);
    perror(argv[2]);
    return 1;
}
