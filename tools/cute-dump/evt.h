/* The view 'evt', which takes an expression, and has its own options. */
#ifndef CUTE_TOOLS_DUMP_EVT_H
#define CUTE_TOOLS_DUMP_EVT_H

/* Runs the view; argv excludes the word 'evt'. Returns the exit code. */
int cute_dump_evt(int argc, char **argv);

#endif
