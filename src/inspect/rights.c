/*
 * rights; see rights.h.
 *
 * The server drops its rights before it reads the first byte from the network: then it has no
 * user's but the caller's, no capabilities(7), no group, and no program that it might start could
 * have more.
 */
#include "inspect/rights.h"

#include <errno.h>
#include <grp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include "base/scope.h"
#include "inspect/server.h"

enum { NOBODY = 65534 }; /* also a group */

/* The user who called the program, found before the rights are dropped. */
static uid_t caller;
static bool is_dropped;

/* Returns the id of a user or group that sudo provides, or NOBODY. */
static uint32_t told_by_sudo(const char *variable)
{
    const char *text = getenv(variable);
    char *end;
    if (!text || *text < '0' || *text > '9')
        return NOBODY;
    errno = 0;
    const unsigned long number = strtoul(text, &end, 10);
    return errno == 0 && !*end && number > 0 && number < UINT32_MAX ? (uint32_t)number : NOBODY;
}

bool rights_may_connect(uid_t user, uid_t owner)
{
    const uid_t own = is_dropped ? caller : getuid();
    return user == 0 || user == own || (owner != (uid_t)-1 && user == owner);
}

#ifdef __linux__
/* Drops the capabilities, including those that a file gave this program. */
static struct g2h_error *drop_capabilities(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return error_system(errno, "cannot give up new privileges");
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); /* kernels before 4.3 have none */
    if (syscall(SYS_capset, &head, none) < 0)
        return error_system(errno, "cannot give up capabilities");
    return NULL;
}
#endif

/* Becomes a user with one group. */
static struct g2h_error *become(uid_t user, gid_t group)
{
    if (geteuid() == 0 && setgroups(1, &group) < 0)
        return error_system(errno, "cannot give up root's groups");
#ifdef __APPLE__
    const bool good = setgid(group) == 0 && setuid(user) == 0;
#else
    const bool good = setresgid(group, group, group) == 0 && setresuid(user, user, user) == 0;
#endif
    if (!good)
        return error_system(errno, "cannot become user %u", (unsigned)user);
    if (user != 0 && setuid(0) == 0)
        return error_create(G2H_ERROR_SYSTEM, "root's rights could not be given up");
    return NULL;
}

struct g2h_error *server_drop_rights(void)
{
    const bool is_root = getuid() == 0;
    const uid_t user = is_root ? told_by_sudo("SUDO_UID") : getuid();
    const gid_t group = is_root ? told_by_sudo("SUDO_GID") : getgid();
    caller = is_root && user == NOBODY ? 0 : user;
    is_dropped = true;
    TRY(become(user, group));
#ifdef __linux__
    TRY(drop_capabilities());
#endif
    return NULL;
}
