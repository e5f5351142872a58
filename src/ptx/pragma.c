/* .pragma, which a module and a function may hold; nothing is kept of it. Source: PTX
 * ISA 9.0, 11.4. */
#include "ptx/parser.h"

/* .pragma "a", "b"; */
int parser_pragma(struct parser *p)
{
    do {
        if (p->token.kind != TOKEN_STRING)
            return parser_expected(p, "a pragma in quotes");
        parser_advance(p);
    } while (parser_accept(p, ','));
    return parser_require(p, ';', "';'");
}
