/*
 * compare: checks whether a dump that was taken from outside is the same as the one that the
 * program wrote itself at that moment, record by record and byte by byte.
 *
 *   compare [OPTION]... OURS REFERENCE
 *
 *   --symbols FILE    the output of `go tool nm -size` for the executable, for names
 *   --may-change NAME a variable that may have changed in between
 *   --threads-move    the runtime's own structures of threads may have changed too
 *   --stripped        ours lacks the number of processors
 *   --cut             the reference ends behind data and bss
 *   --both            programs wrote both dumps: ours has phantoms too, and all memstats
 *   --most N          reports at most N differences of a kind (5)
 *   --self-test       takes one dump, spoils it in many ways, and checks that each is noticed
 *
 * Exit status: 0 if the dumps are the same, 1 if they are not, 2 if they could not be read.
 */
#include "differences.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "spoil.h"

enum { SAME = 0, DIFFERENT = 1, WRONG = 2, LINE = 4096 };

static int say(const struct g2h_error *error)
{
    fprintf(stderr, "compare: %s\n", error->message);
    return WRONG;
}

static int by_address(const void *first, const void *second)
{
    const struct symbol *a = first, *b = second;
    return a->address < b->address ? -1 : a->address > b->address;
}

/* Reads symbols: lines of an address, a size, a letter and a name. Returns false if that fails. */
static bool read_symbols(const char *path, struct comparison *comparison)
{
    char line[LINE], name[LINE];
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    bool good = true;
    while (good && fgets(line, sizeof(line), file)) {
        struct symbol symbol = {0};
        char letter;
        if (sscanf(line, " %" SCNx64 " %" SCNu64 " %c %4095s", &symbol.address, &symbol.size,
                   &letter, name) != 4 ||
            !strchr("dDbB", letter))
            continue;
        symbol.name = strdup(name); /* never freed */
        good = symbol.name && vector_push(&comparison->symbols, symbol);
    }
    fclose(file);
    vector_sort(&comparison->symbols, by_address);
    return good;
}

static void print_counts(const struct comparison *comparison)
{
    printf("%-22s %10s %10s %10s %10s\n", "", "ours", "reference", "the same", "different");
    for (int kind = 0; kind < G2H_RECORD_KINDS; kind++) {
        const size_t ours = comparison->ours.of_kind[kind].count,
                     reference = comparison->reference.of_kind[kind].count;
        if (ours + reference > 0)
            printf("%-22s %10zu %10zu %10" PRIu64 " %10" PRIu64 "\n",
                   g2h_record_kind_name((enum g2h_record_kind)kind), ours, reference,
                   comparison->same[kind], comparison->differences[kind]);
    }
    printf("%-22s %10" PRIu64 " %10" PRIu64 "\n", "phantoms left out", comparison->ours.phantoms,
           comparison->reference.phantoms);
    printf("%-22s %10" PRIu64 "\n", "words of stack objects", comparison->stack_words);
    for (size_t i = 0; i < comparison->moving.count; i++)
        if (comparison->moving.data[i].words > 0)
            printf("may change: %s at 0x%" PRIx64 ", %" PRIu64 " words differ\n",
                   comparison->moving.data[i].name, comparison->moving.data[i].begin,
                   comparison->moving.data[i].words);
}

static int usage(void)
{
    fputs("usage: compare [--symbols FILE] [--may-change NAME]... [--threads-move] [--stripped] "
          "[--cut] [--both] [--most N] OURS REFERENCE\n       compare --self-test DUMP\n",
          stderr);
    return WRONG;
}

int main(int argc, char **argv)
{
    struct comparison comparison = {.most = 5, .report = stdout};
    struct g2h_input *ours, *reference;
    struct g2h_error *error;
    bool is_self_test = false;
    int i = 1;
    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        if (strcmp(argv[i], "--threads-move") == 0)
            comparison.threads_move = true;
        else if (strcmp(argv[i], "--stripped") == 0)
            comparison.is_stripped = true;
        else if (strcmp(argv[i], "--cut") == 0)
            comparison.is_cut = true;
        else if (strcmp(argv[i], "--both") == 0)
            comparison.both_by_program = true;
        else if (strcmp(argv[i], "--self-test") == 0)
            is_self_test = true;
        else if (i + 1 == argc)
            return usage();
        else if (strcmp(argv[i], "--most") == 0)
            comparison.most = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--may-change") == 0) {
            if (!vector_push(&comparison.variables, argv[++i]))
                return WRONG;
        } else if (strcmp(argv[i], "--symbols") == 0) {
            if (!read_symbols(argv[++i], &comparison)) {
                perror(argv[i]);
                return WRONG;
            }
        } else
            return usage();
    }
    if (argc - i != 2 - is_self_test)
        return usage();
    if ((error = g2h_input_open(argv[i], NULL, &ours)))
        return say(error);
    if (is_self_test)
        return spoil_test(ours) ? SAME : DIFFERENT;
    if ((error = g2h_input_open(argv[i + 1], NULL, &reference)))
        return say(error);
    if ((error = listing_load(ours, &comparison.ours)))
        return say(error);
    error = listing_load(reference, &comparison.reference);
    if (error && !(comparison.is_cut && error->code == G2H_ERROR_DAMAGED))
        return say(error);
    if ((error = compare(&comparison)))
        return say(error);
    print_counts(&comparison);
    const uint64_t differences = comparison_differences(&comparison);
    if (differences > 0)
        printf("%" PRIu64 " differences\n", differences);
    comparison_deinit(&comparison);
    g2h_input_close(ours);
    g2h_input_close(reference);
    return differences > 0 ? DIFFERENT : SAME;
}
