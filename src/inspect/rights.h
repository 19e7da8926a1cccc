/* rights: what this process may do, and for whom. */
#ifndef INSPECT_RIGHTS_H
#define INSPECT_RIGHTS_H

#include <stdbool.h>
#include <sys/types.h>

/* Returns whether processes of this user may connect: who called the program, also by sudo, root,
 * and owner, which is (uid_t)-1 if there is none. */
bool rights_may_connect(uid_t user, uid_t owner);

#endif
