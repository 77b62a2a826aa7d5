/* The loops of loops.ptx over one lane in C, as the limit: scalar NAME COUNT. Prints operations and seconds. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double ffma(long n)
{
    volatile float unknown = 0.5f; /* or the compiler finds where it ends */
    float a = 1, b = unknown, c = unknown + 0.01f, d = 1, e = 2, f = 0;
    for (long i = 0; i < n; i++)
        for (int k = 0; k < 2; k++) {
            a = a * b + c;
            d = d * b + c;
            e = e * b + c;
            f = a * b + c;
        }
    return (double)(a + d + e + f);
}

static double integer(long n)
{
    uint32_t a = 1, b = 7, c = 99, d;
    for (long i = 0; i < n; i++) {
        a = a * b + c;
        b ^= a;
        c += b;
        d = c << 3;
        c = d & a;
        b = (int32_t)b < (int32_t)c ? b : c;
        c -= a;
        b |= c;
    }
    return b;
}

static double shared(long n)
{
    static volatile float s[512];
    float v = 1;
    for (long i = 0; i < n; i++)
        for (int k = 0; k < 2; k++) {
            s[0] = v;
            v = s[0];
            s[256] = v;
            v = s[256];
        }
    return (double)v;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        double (*run)(long);
    } loops[] = {{"ffma", ffma}, {"integer", integer}, {"shared", shared}};
    for (size_t i = 0; argc == 3 && i < 3; i++) {
        if (strcmp(loops[i].name, argv[1]) != 0) continue;
        long n = strtol(argv[2], NULL, 10);
        double (*volatile run)(long) = loops[i].run; /* kept between the two looks at the clock */
        double began = now(), result = run(n), seconds = now() - began;
        fprintf(stderr, "%g\n", result);
        printf("%.6f %.6f\n", 11.0 * (double)n, seconds);
        return 0;
    }
    return 2;
}
