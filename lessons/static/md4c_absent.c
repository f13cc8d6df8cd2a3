/* In the place of md4c where the system has no static one: a program in one file then plays no lessons, and says so
 * (markdown.c). The name and the arguments are md4c's. */
int md_parse(const char *text, unsigned size, const void *parser, void *context);

int md_parse(const char *text, unsigned size, const void *parser, void *context)
{
    (void)text;
    (void)size;
    (void)parser;
    (void)context;
    return -2; /* md4c itself gives 0 or −1, or what a callback returned, which is 1 here */
}
