/* .pragma, which a module, a function and a body may hold; "nounroll" alone is kept of it. Source:
 * PTX ISA 9.0, 11.4. */
#include <string.h>

#include "ptx/parser.h"

static bool is_text(const struct token *token, const char *text)
{
    return token->length == strlen(text) && memcmp(token->text, text, token->length) == 0;
}

/* .pragma "a", "b"; */
int parser_pragma(bool *nounroll, struct parser *p)
{
    do {
        if (p->token.kind != TOKEN_STRING)
            return parser_expected(p, "a pragma in quotes");
        *nounroll |= is_text(&p->token, "nounroll");
        parser_advance(p);
    } while (parser_accept(p, ','));
    return parser_require(p, ';', "';'");
}
