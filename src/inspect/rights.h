/* rights: limits what this process may do, and who may connect. */
#ifndef INSPECT_RIGHTS_H
#define INSPECT_RIGHTS_H

#include <stdbool.h>
#include <sys/types.h>

/* Returns whether processes of this user may connect: the user who called the program, also by
 * sudo, root, and owner, which is (uid_t)-1 for none. */
bool rights_may_connect(uid_t user, uid_t owner);

#endif
