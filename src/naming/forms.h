/*
 * forms: what the names of types and functions say in Go.
 *
 * They are asked for here, where names still are as the linker has them, so that outputs and
 * findings need not read them out of what people are shown, where http may be one of two packages.
 */
#ifndef NAMING_FORMS_H
#define NAMING_FORMS_H

#include "base/bytes.h"
#include "naming/names.h"

/* Returns what the name of a type says of objects that are values of it or, with G2H_FORM_SLICE or
 * G2H_FORM_CHAN, arrays or channels of them: G2H_NAME_OF_RUNTIME, enum g2h_class_form and enum
 * g2h_runtime_class, as name_uses has them. */
unsigned form_of_type(struct g2h_bytes type, enum g2h_class_form of);

/* Returns what the name of a function says of its frames: G2H_NAME_OF_RUNTIME and
 * G2H_NAME_OF_LIBRARY, or 0. */
unsigned form_of_function(struct g2h_bytes function);

#endif
