/*
 * held_together: the variables of a package that hold memory together.
 *
 * What one variable of a package alone holds is in that variable's retained size. What two of them
 * hold, as a map by name and a map by number, is in neither's, but only in the package's. If that
 * is more than one percent of what a package holds, the variables that share it are a group: all
 * that they hold, alone and together, can only be reached through the group.
 *
 * Each object gets the set of the members that lead to it, which are the targets of the package's
 * edges: variables of several words, and objects. A member is reached by others, too, but belongs
 * to itself, as it has a row of its own. Sets spread along the pointers that hold their targets,
 * and only grow; a set of more than a few members stands for all members of such sets.
 */
#ifndef GRAPH_HELD_TOGETHER_H
#define GRAPH_HELD_TOGETHER_H

#include "graph/graph.h"

/* A member of a group, or an object that several of the group's members hold together. */
struct held_together {
    uint32_t package, group; /* package: its node in the graph */
    struct node node;
    uint64_t bytes; /* of a member: what it alone holds */
    bool is_shared; /* it is not a member */
};

typedef VECTOR(struct held_together) held_together_vector;

/* Finds the groups of the program's packages, ascending by group: first its members, largest first,
 * then the objects that members hold together, if these are few.
 * Takes four bytes per object, up to twelve more for those that lead to others, and more where
 * there are groups. Error: G2H_ERROR_MEMORY. */
struct g2h_error *held_together_find(const struct g2h_graph *graph, held_together_vector *ret);

#endif
