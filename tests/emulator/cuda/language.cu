// What C++ makes of the machine: virtual calls, recursion, function pointers, jump tables, new and delete, local
// arrays, constants, structs by value, 8- and 16-bit loads, templates over types, printf.
#include <cstdint>
#include <cstdio>
#include <new>

struct Shape {
    __device__ virtual int area() const = 0;
    __device__ virtual ~Shape() {}
};
struct Square : Shape {
    int side;
    __device__ Square(int s) : side(s) {}
    __device__ int area() const override { return side * side; }
};
struct Rectangle : Shape {
    int a, b;
    __device__ Rectangle(int a, int b) : a(a), b(b) {}
    __device__ int area() const override { return a * b; }
};

__device__ __noinline__ int ackermann(int m, int n) {
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int square(int x) { return x * x; }
__device__ __noinline__ int negate(int x) { return -x; }
typedef int (*Function)(int);
__device__ Function functions[3] = {twice, square, negate};
__constant__ int weights[8] = {1, -2, 3, -5, 8, -13, 21, -34};
__device__ int counter = 5;
struct Point {
    char tag;
    short x;
    double y;
    float z[3];
};

extern "C" __global__ void objects(int *out, int n) {
    int i = threadIdx.x;
    Shape *s = i % 2 ? (Shape *)new Square(i) : (Shape *)new Rectangle(i, i + 3);
    int area = s->area();
    delete s;
    out[4 * i] = area;
    out[4 * i + 1] = ackermann(i % 3, i % 5);
    out[4 * i + 2] = functions[i % 3](i + 1);
    int r;
    switch ((i * 7) % 9) {
    case 0: r = weights[i % 8]; break;
    case 1: r = i << 3; break;
    case 2: r = __popc(i); break;
    case 3: r = i * i - 4; break;
    case 4: r = atomicAdd(&counter, 0) + i; break;
    case 5: r = ~i; break;
    case 6: r = i % 5; break;
    case 7: r = (char)(i * 50); break;
    default: r = (short)(i * 5000);
    }
    out[4 * i + 3] = r;
}

extern "C" __global__ void sorting(const short *in, short *out, Point p, float *sums) {
    short keys[16];
    int i = threadIdx.x;
    for (int k = 0; k < 16; k++) keys[k] = in[16 * i + k];
    for (int a = 1; a < 16; a++) {
        short key = keys[a];
        int b = a;
        for (; b > 0 && keys[b - 1] > key; b--) keys[b] = keys[b - 1];
        keys[b] = key;
    }
    for (int k = 0; k < 16; k++) out[16 * i + k] = keys[k] + p.x * p.tag;
    sums[i] = p.y + p.z[i % 3] + keys[i % 16];
    if (i < 2) printf("thread %d of %s: %c %5.2f %lld\n", i, "sorting", 'a' + i, p.y, 1ll << 40);
}
