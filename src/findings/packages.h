/* packages: the packages of classes. */
#ifndef FINDINGS_PACKAGES_H
#define FINDINGS_PACKAGES_H

#include <stddef.h>

/* Gives the package of a class by its name: map[string]*http.conn is of http. *ret is a part of the
 * name, or, of a class without a package, "builtin". */
void package_of_class(const char *name, size_t size, const char **ret, size_t *ret_size);

#endif
