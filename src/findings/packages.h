/* packages: the packages of classes. */
#ifndef FINDINGS_PACKAGES_H
#define FINDINGS_PACKAGES_H

#include <stddef.h>

/* Finds the package of a class by its name: map[string]*http.conn is of http. *ret is a part of the
 * name, or "builtin" for a class without a package. */
void package_of_class(const char *name, size_t size, const char **ret, size_t *ret_size);

#endif
