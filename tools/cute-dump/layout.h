/* The view `layout`: it has expressions where the others have files, and options of its own. */
#ifndef CUTE_TOOLS_DUMP_LAYOUT_H
#define CUTE_TOOLS_DUMP_LAYOUT_H

/* `argv` without the word `layout`; returns the exit code. */
int cute_dump_layout(int argc, char **argv);

#endif
