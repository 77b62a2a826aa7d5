/* The view 'layout', which takes expressions instead of files and has its own options. */
#ifndef CUTE_TOOLS_DUMP_LAYOUT_H
#define CUTE_TOOLS_DUMP_LAYOUT_H

/* Runs the view; argv excludes the word 'layout'. Returns the exit code. */
int cute_dump_layout(int argc, char **argv);

#endif
