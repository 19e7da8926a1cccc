/*
 * fields: which objects are written field by field, in the outputs that show values.
 */
#ifndef OUTPUT_FIELDS_H
#define OUTPUT_FIELDS_H

enum {
    FIELDS_MOST = 4096,     /* of an object: the most values that become fields */
    FIELDS_MOST_ARRAY = 256 /* bytes of an array: the values in a longer one do not become fields */
};

#endif
