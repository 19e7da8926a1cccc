/*
 * forms: what the names of types and functions say in Go.
 *
 * Names are classified here, where they still are as the linker has them, so that outputs and
 * findings need not parse displayed names, in which http may be one of two packages.
 */
#ifndef NAMING_FORMS_H
#define NAMING_FORMS_H

#include "base/bytes.h"
#include "naming/names.h"

/* Classifies the name of a type, for objects that are values of it or, with G2H_FORM_SLICE or
 * G2H_FORM_CHAN, arrays or channels of them: returns G2H_NAME_OF_RUNTIME, enum g2h_class_form and
 * enum g2h_runtime_class, as name_uses has them. */
unsigned form_of_type(struct g2h_bytes type, enum g2h_class_form of);

/* Classifies the name of a function, for its frames: G2H_NAME_OF_RUNTIME and G2H_NAME_OF_LIBRARY,
 * or 0. */
unsigned form_of_function(struct g2h_bytes function);

#endif
