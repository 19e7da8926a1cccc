/*
 * refuse: why a process cannot be read; see refuse.h. The rules are those of ptrace(2), "Ptrace
 * access mode checking". attach_refuse() gathers facts from /proc (users, capabilities, tracer,
 * Yama, container) into a struct attach_facts; attach_refusal() makes the message from these alone,
 * so that tests need no such process.
 */
#include "process/attach/refuse.h"

#ifdef __linux__

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "process/attach/procfs.h"

enum {
    CAPABILITY_SYS_PTRACE = 19, /* its bit in CapEff, by capabilities(7) */
    TRACER_TRIES = 20,
    TRACER_PAUSE = 1000 /* microseconds between them */
};

/* ---- messages ---- */

static struct g2h_error *say_of(const struct attach_facts *facts, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Makes an error about the process. */
static struct g2h_error *say_of(const struct attach_facts *facts, const char *format, ...)
{
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof(what), format, arguments);
    va_end(arguments);
    return error_create(G2H_ERROR_SYSTEM, "process %llu: %s", (unsigned long long)facts->pid, what);
}

static bool has_no_descriptors(int error)
{
    return error == EMFILE || error == ENFILE;
}

/* Refuses if this program cannot look at any process. Otherwise returns NULL. */
static struct g2h_error *refuse_blind(const struct attach_facts *facts)
{
    if (has_no_descriptors(facts->error))
        return say_of(facts, "cannot be read, because no file descriptor is left %s",
                      facts->error == EMFILE ? "for this program: raise ulimit -n"
                                             : "on this system (/proc/sys/fs/file-max)");
    if (facts->has_no_proc)
        return say_of(facts, "cannot be looked at, because /proc is not mounted here: mount -t "
                             "proc proc /proc");
    if (facts->is_other_proc)
        return say_of(facts, "/proc is of another pid namespace than this program is in, so that "
                             "numbers of processes are others: mount -t proc proc /proc, or run "
                             "this by nsenter where the process is");
    return NULL;
}

/* The process that is the parent of the kernel's threads. */
enum { KTHREADD = 2 };

/* Refuses a process that cannot be read by any user: it does not exist, has ended or has no memory.
 * At its end --at-death may still hold its first thread (ESRCH). Otherwise returns NULL. */
static struct g2h_error *refuse_absent(const struct attach_facts *facts)
{
    if (facts->is_self)
        return say_of(facts, "is this very program");
    if (facts->was_there && (!facts->is_there || facts->has_no_memory || facts->error == ESRCH))
        return say_of(facts, "has ended while it was read");
    if (!facts->is_there)
        return say_of(facts, "no such process%s",
                      facts->environment == ATTACH_MACHINE
                          ? ""
                          : " (PIDs differ inside this container: see ls /proc)");
    if (facts->leader != facts->pid && !facts->is_hidden)
        return say_of(facts, "is a thread of process %llu: give that number",
                      (unsigned long long)facts->leader);
    if (facts->state == 'Z' || facts->state == 'X')
        return say_of(facts, "has exited (zombie of process %llu)",
                      (unsigned long long)facts->parent);
    if (facts->has_no_memory && facts->parent > KTHREADD)
        return say_of(facts, "is exiting");
    if (facts->has_no_memory)
        return say_of(facts, "is a thread of the kernel, which has no memory of its own");
    return NULL;
}

/* Refuses a process that no user may read now: another process traces it, it does not stop, there
 * is no ptrace, the system forbids it to all (ptrace_scope 3), or reading failed with an error that
 * is not about permission. Otherwise, if there was no error or only this user may not, returns
 * NULL. */
static struct g2h_error *refuse_anybody(const struct attach_facts *facts)
{
    if (facts->tracer != 0 && strcmp(facts->tracer_name, "go2heapsnapshot") == 0)
        return say_of(
            facts,
            "process %llu (go2heapsnapshot --at-death, or another that reads it) traces it "
            "already, and only one can: kill %llu ends that one and lets it go",
            (unsigned long long)facts->tracer, (unsigned long long)facts->tracer);
    if (facts->tracer != 0 && facts->traced != 0)
        return say_of(facts,
                      "process %llu (%s) traces its thread %llu already, and only one can: end "
                      "that one",
                      (unsigned long long)facts->tracer, facts->tracer_name,
                      (unsigned long long)facts->traced);
    if (facts->tracer != 0)
        return say_of(facts, "process %llu (%s) traces it already, and only one can: end that one",
                      (unsigned long long)facts->tracer, facts->tracer_name);
    if (facts->error == 0)
        return NULL;
    if (facts->error == ETIMEDOUT)
        return say_of(facts, "does not stop within 10 seconds, and goes on: try it again when the "
                             "machine has less to do");
    if (facts->error == ENOSYS)
        return say_of(facts, "cannot be read, because there is no ptrace here, as in sandboxes: "
                             "let the program write the dump itself (runtime/debug.WriteHeapDump)");
    if (facts->error != EPERM && facts->error != EACCES && !facts->is_hidden)
        return error_system(facts->error, "process %llu: cannot be read",
                            (unsigned long long)facts->pid);
    if (facts->yama == 3)
        return say_of(facts, "this system allows no one to read processes until it is restarted "
                             "(/proc/sys/kernel/yama/ptrace_scope is 3): take a core instead");
    return NULL;
}

/* Returns what a user can do who lacks permission to read the process; it depends on where this
 * program runs. */
static const char *advice_for_permission(const struct attach_facts *facts)
{
    switch (facts->environment) {
    case ATTACH_KUBERNETES:
        return "kubectl debug --profile=sysadmin --target=CONTAINER POD, where it mostly is "
               "process 1, or run this on the node";
    case ATTACH_CONTAINER:
        return "give this container --cap-add SYS_PTRACE, or run this on the host, "
               "using the host PID";
    default:
        return "run this with sudo";
    }
}

/* Refuses a process that another user could read, and says which rule forbids it. The order is that
 * of the rules that can be told apart from outside. */
static struct g2h_error *refuse_without_right(const struct attach_facts *facts)
{
    if (facts->yama == 2)
        return say_of(facts,
                      "reading it requires CAP_SYS_PTRACE here "
                      "(/proc/sys/kernel/yama/ptrace_scope is 2): %s",
                      advice_for_permission(facts));
    if (facts->is_hidden)
        return say_of(facts, "runs as another user: run this as that user, or %s",
                      advice_for_permission(facts));
    if (facts->is_other_user)
        return say_of(facts,
                      "runs as another user or group (uid %llu): run this as that user, or %s",
                      (unsigned long long)facts->user, advice_for_permission(facts));
    if (facts->yama == 1)
        return say_of(facts,
                      "only its ancestors and processes with CAP_SYS_PTRACE may read it here "
                      "(/proc/sys/kernel/yama/ptrace_scope is 1): %s",
                      advice_for_permission(facts));
    if (facts->has_more)
        return say_of(facts,
                      "has capabilities (CapPrm in /proc/%llu/status) that this program does not "
                      "have: %s",
                      (unsigned long long)facts->pid, advice_for_permission(facts));
    return say_of(facts,
                  "is protected: its file is set-uid, has capabilities or cannot be read, or it "
                  "has PR_SET_DUMPABLE off%s; %s",
                  facts->environment == ATTACH_MACHINE ? "" : ", or this container forbids ptrace",
                  advice_for_permission(facts));
}

/* Returns the error why a process cannot be read, or NULL. The checks go from reasons that hold for
 * every process to those of this user: the first one is what to mend first. */
struct g2h_error *attach_refusal(const struct attach_facts *facts)
{
    TRY_MEMORY(facts->error != ENOMEM);
    TRY(refuse_blind(facts));
    TRY(refuse_absent(facts));
    TRY(refuse_anybody(facts));
    if (facts->error == 0)
        return NULL;
    if (facts->may_trace)
        return say_of(facts, "cannot be read, although go2heapsnapshot has CAP_SYS_PTRACE: SELinux "
                             "(deny_ptrace), AppArmor, a seccomp profile or the user namespace of "
                             "a container forbids it; run this outside of that");
    return refuse_without_right(facts);
}

/* ---- the facts ---- */

/* The users and groups in a line of a process's status: real, effective, saved, and of the file
 * system. */
struct identity {
    uint64_t users[4], groups[4];
};

/* Reads the four ids after a key of a status. */
static void take_identity(const struct text *status, const char *key, uint64_t *ret)
{
    const char *at = procfs_value(status, key);
    for (unsigned i = 0; i < 4; i++)
        if (!at || !procfs_take_number(&at, 10, &ret[i]))
            ret[i] = UINT64_MAX;
}

/* Returns whether real, effective and saved id are the wanted one: ptrace(2) requires it of all
 * three. */
static bool are_all_three(const uint64_t *numbers, uint64_t wanted)
{
    return numbers[0] == wanted && numbers[1] == wanted && numbers[2] == wanted;
}

/* Returns whether a process or thread exists, shown in /proc or not (hidepid). */
static bool is_there(uint64_t id)
{
    return access(procfs_path(id, "comm").text, F_OK) == 0 || procfs_has_process(id) ||
           errno == EPERM;
}

/* Returns the tracer in a status, unless that is a thread of this program, which may have ended a
 * moment ago; 0: there is none. */
static uint64_t other_tracer(const struct text *status)
{
    const uint64_t tracer = procfs_number(status, "TracerPid:");
    char own[64];
    if (tracer == 0 || tracer > INT32_MAX)
        return 0;
    snprintf(own, sizeof(own), "/proc/self/task/%llu", (unsigned long long)tracer);
    return access(own, F_OK) != 0 && is_there(tracer) ? tracer : 0;
}

static bool is_traced_by_parent(const struct text *status)
{
    const uint64_t tracer = procfs_number(status, "TracerPid:");
    return tracer != 0 && tracer == procfs_number(status, "PPid:");
}

/* Reads a status of the process ("status") or of its thread ("task/TID/status"). While a tracer
 * lets go of a thread, as one of this program's does that ends, the kernel shows the thread's
 * parent as its tracer for a moment (__ptrace_unlink()): such a status is read again, and a parent
 * that stays the tracer is one. Returns 0 or an errno value. */
static int read_status(uint64_t pid, const char *name, struct text *ret)
{
    int error = procfs_read_of(pid, name, ret);
    for (unsigned try = 0; try < TRACER_TRIES && error == 0 && is_traced_by_parent(ret); try++) {
        (void)usleep(TRACER_PAUSE);
        error = procfs_read_of(pid, name, ret);
    }
    return error;
}

/* Notes the facts in the process's status (/proc/PID/status). Without VmSize it has no memory: it
 * is exiting, or a thread of the kernel. */
static void refuse_note_process(const struct text *status, struct attach_facts *facts)
{
    const char *state = procfs_value(status, "State:");
    facts->is_there = true;
    facts->state = state ? *state : '\0';
    facts->leader = procfs_number(status, "Tgid:");
    facts->parent = procfs_number(status, "PPid:");
    facts->has_no_memory = !procfs_value(status, "VmSize:");
    facts->tracer = other_tracer(status);
    facts->is_self = facts->leader == (uint64_t)getpid();
}

/* Returns the set of capabilities after a key of a status, a bit each. */
static uint64_t capabilities_of(const struct text *status, const char *key)
{
    const char *at = procfs_value(status, key);
    uint64_t capabilities = 0;
    if (at)
        (void)procfs_take_number(&at, 16, &capabilities);
    return capabilities;
}

/* Notes whether the process runs as another user than this program, whether it has capabilities
 * that this one has not, and whether this one may trace any process. Nothing if the own status
 * cannot be read. */
static void note_users(const struct text *status, struct attach_facts *facts)
{
    _cleanup_(text_deinit) struct text own = {0};
    struct identity its, ours;
    uint64_t effective;
    if (procfs_read("/proc/self/status", &own) != 0)
        return;
    take_identity(status, "Uid:", its.users);
    take_identity(status, "Gid:", its.groups);
    take_identity(&own, "Uid:", ours.users);
    take_identity(&own, "Gid:", ours.groups);
    facts->user = its.users[1];
    facts->is_other_user =
        !are_all_three(its.users, ours.users[3]) || !are_all_three(its.groups, ours.groups[3]);
    effective = capabilities_of(&own, "CapEff:");
    facts->has_more = (capabilities_of(status, "CapPrm:") & ~capabilities_of(&own, "CapPrm:")) != 0;
    facts->may_trace = (effective >> CAPABILITY_SYS_PTRACE & 1) != 0;
}

/* Finds the thread that another process traces, other than the first one: facts->traced, and its
 * tracer. Both stay 0 if there is none. */
static void note_traced_thread(struct attach_facts *facts)
{
    _cleanup_(procfs_close) DIR *tasks = opendir(procfs_path(facts->pid, "task").text);
    for (uint64_t id; facts->tracer == 0 && (id = procfs_next_number(tasks)) != 0;) {
        _cleanup_(text_deinit) struct text status = {0};
        char name[64];
        snprintf(name, sizeof(name), "task/%llu/status", (unsigned long long)id);
        if (read_status(facts->pid, name, &status) == 0)
            facts->tracer = other_tracer(&status);
        facts->traced = facts->tracer != 0 && id != facts->pid ? id : 0;
    }
}

/* Finds out which process traces this one, and its name. Without permission (EPERM) the threads are
 * searched, too. */
static void note_tracer(struct attach_facts *facts)
{
    _cleanup_(text_deinit) struct text name = {0};
    if (facts->tracer == 0 && facts->error == EPERM)
        note_traced_thread(facts);
    if (facts->tracer != 0 && procfs_read_name(facts->tracer, &name) == 0)
        snprintf(facts->tracer_name, sizeof(facts->tracer_name), "%s", name.data);
}

/* Notes the restriction of ptrace by the Yama module; 0 if there is none. */
static void note_yama(struct attach_facts *facts)
{
    _cleanup_(text_deinit) struct text scope = {0};
    if (procfs_read("/proc/sys/kernel/yama/ptrace_scope", &scope) == 0)
        facts->yama = (unsigned)procfs_number(&scope, "");
}

/* Guesses whether this program runs in a container: there is no standard, but container runtimes
 * leave traces, which are environment variables, files, and names in the groups of process 1. Those
 * of Kubernetes count as such. */
static enum attach_environment find_environment(void)
{
    static const char *const names[] = {"docker", "containerd", "kubepods", "libpod", "lxc"};
    _cleanup_(text_deinit) struct text groups = {0};
    if (getenv("KUBERNETES_SERVICE_HOST"))
        return ATTACH_KUBERNETES;
    if (getenv("container") || access("/.dockerenv", F_OK) == 0 ||
        access("/run/.containerenv", F_OK) == 0)
        return ATTACH_CONTAINER;
    if (procfs_read("/proc/1/cgroup", &groups) == 0)
        for (size_t i = 0; i < COUNT_OF(names); i++)
            if (strstr(groups.data, names[i]))
                return strcmp(names[i], "kubepods") == 0 ? ATTACH_KUBERNETES : ATTACH_CONTAINER;
    return ATTACH_MACHINE;
}

/* Notes whether /proc shows the processes that this program can read. */
static void note_proc(struct attach_facts *facts)
{
    char own[32];
    const ssize_t size = readlink("/proc/self", own, sizeof(own) - 1);
    facts->has_no_proc = size < 0 && access("/proc/stat", F_OK) != 0;
    own[MAX(size, 0)] = '\0';
    facts->is_other_proc = !facts->has_no_proc && strtol(own, NULL, 10) != (long)getpid();
}

/* Returns the error why a process cannot be read. Gathers the facts from /proc, as far as it shows
 * them, and judges them. */
struct g2h_error *attach_refuse(uint64_t pid, int error, bool was_there)
{
    _cleanup_(text_deinit) struct text status = {0};
    struct attach_facts facts = {
        .pid = pid, .error = error, .was_there = was_there, .environment = find_environment()};
    const int unread = read_status(pid, "status", &status);
    note_proc(&facts);
    if (has_no_descriptors(unread)) {
        facts.error = unread;
    } else if (unread == 0) {
        refuse_note_process(&status, &facts);
        note_users(&status, &facts);
    } else if (pid > 0) {
        facts.is_hidden = facts.is_there = procfs_has_process(pid) || errno == EPERM;
    }
    note_tracer(&facts);
    note_yama(&facts);
    return attach_refusal(&facts);
}

#endif
