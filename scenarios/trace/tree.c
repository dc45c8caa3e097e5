/* A binary search tree of records of 4 KiB: 128 of them are put in, then each is looked up.
   gcc -O2 -static -nostdlib -ffreestanding -fno-stack-protector -o tree tree.c
   valgrind --tool=lackey --trace-mem=yes --log-file=tree.lackey ./tree */
struct node { unsigned long key; struct node *child[2]; unsigned long value[509]; };
static struct node nodes[128] __attribute__((aligned(4096)));
static unsigned long key_of(unsigned long n) { return (n + 1) * 0x9e3779b97f4a7c15ul >> 32; }
void _start(void) {
    struct node *root = 0;
    unsigned long found = 0;
    for (unsigned long n = 0; n < 128; n++) {
        struct node *fresh = &nodes[n * 55 % 128], **at = &root;
        fresh->key = key_of(n);
        while (*at) at = &(*at)->child[(*at)->key < fresh->key];
        *at = fresh;
    }
    for (unsigned long n = 0; n < 128; n++) {
        struct node *at = root;
        while (at->key != key_of(n)) at = at->child[at->key < key_of(n)];
        found += ++at->value[0];
    }
    __asm__ volatile("syscall" : : "a"(60L), "D"(found != 128));
    __builtin_unreachable();
}
