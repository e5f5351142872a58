/*
 * sonde completion: what a shell needs to complete commands, options and devices, made of the table
 * of commands, so that it never lags behind.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

/* The options that a help text lists: words that begin with - where a line of it begins. */
static void options_of(FILE *out, const char *help)
{
    fputs("--help", out);
    for (const char *line = help; *line;) {
        const char *at = line + strspn(line, " ");
        while (at - line < 4 && *at == '-') {
            size_t length = strcspn(at, " ,[=\n");
            fprintf(out, " %.*s", (int)length, at);
            at += length;
            if (*at != ',') {
                break;
            }
            at += strspn(at, ", ");
            line = at - 2; /* "--only, --skip": the next one counts too */
        }
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
}

/* The names of the shipped models as devices: the first word of each line of the list. */
static int devices(FILE *out)
{
    char *list = NULL;
    int rc = sonde_model_list(&list);
    if (rc < 0) {
        return rc;
    }
    for (const char *line = list; *line;) {
        fprintf(out, "%ssim:%.*s", line == list ? "" : " ", (int)strcspn(line, " \n"), line);
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    fputs(" cuda:0", out);
    sonde_free(list);
    return 0;
}

static int bash(FILE *out)
{
    fputs("# bash completion of sonde; made by: sonde completion bash\n"
          "_sonde() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options=\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        COMPREPLY=($(compgen -W '",
          out);
    const struct command *row;
    for (size_t i = 0; (row = cli_command_at(i)); i++) {
        fprintf(out, "%s%s", i ? " " : "", row->name);
    }
    fputs(" --help --version' -- \"$word\"))\n"
          "        return\n"
          "    fi\n"
          "    case ${COMP_WORDS[1]} in\n",
          out);
    for (size_t i = 0; (row = cli_command_at(i)); i++) {
        fprintf(out, "    %s) options='", row->name);
        options_of(out, row->help);
        fputs("' ;;\n", out);
    }
    fputs("    esac\n"
          "    # a device's name is cut at its colon\n"
          "    if [ \"$before\" = -d ] || [ \"$before\" = : ]; then\n"
          "        local all='",
          out);
    int rc = devices(out);
    fputs("'\n"
          "        [ \"$before\" = : ] && all=${all//sim:/} && all=${all//cuda:/}\n"
          "        [ \"$word\" = : ] && word=\n"
          "        COMPREPLY=($(compgen -W \"$all\" -- \"$word\"))\n"
          "        return\n"
          "    fi\n"
          "    case $word in\n"
          "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
          "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
          "    esac\n"
          "}\n"
          "complete -o filenames -F _sonde sonde\n",
          out);
    return rc;
}

static int zsh(FILE *out)
{
    fputs("#compdef sonde\n"
          "# zsh completion of sonde; made by: sonde completion zsh\n"
          "local -a commands options devices\n"
          "commands=(\n",
          out);
    const struct command *row;
    for (size_t i = 0; (row = cli_command_at(i)); i++) {
        fprintf(out, "    \"%s:%s\"\n", row->name, row->summary);
    }
    fputs(")\ndevices=(", out);
    int rc = devices(out);
    fputs(")\n"
          "if (( CURRENT == 2 )); then\n"
          "    _describe command commands\n"
          "    return\n"
          "fi\n"
          "case $words[2] in\n",
          out);
    for (size_t i = 0; (row = cli_command_at(i)); i++) {
        fprintf(out, "%s) options=(", row->name);
        options_of(out, row->help);
        fputs(") ;;\n", out);
    }
    fputs("esac\n"
          "if [[ $words[CURRENT-1] == -d ]]; then\n"
          "    compadd -- $devices\n"
          "elif [[ $words[CURRENT] == -* ]]; then\n"
          "    compadd -- $options\n"
          "else\n"
          "    _files\n"
          "fi\n",
          out);
    return rc;
}

static int write_script(const char *shell)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (!out) {
        cli_complain(": out of memory");
        return EXIT_NOT_HELD;
    }
    int rc = strcmp(shell, "bash") == 0 ? bash(out) : zsh(out);
    bool failed = fclose(out) != 0;
    if (rc == 0 && failed) {
        cli_complain(": out of memory");
        free(text);
        return EXIT_NOT_HELD;
    }
    int status = rc < 0 ? cli_fail(rc) : cli_print(text);
    free(text);
    return status;
}

int cmd_completion(int argc, char **argv)
{
    static const struct option_spec options[] = {{NULL, false}};
    const char *shell = NULL;
    struct option_walk walk;
    option_walk_start(&walk, argc, argv);
    while (option_walk_next(&walk, options)) {
        if (shell) {
            return cli_usage(argv[0], "one shell at a time");
        }
        shell = walk.value;
    }
    if (walk.failed) {
        return EXIT_USAGE;
    }
    if (!shell || (strcmp(shell, "bash") != 0 && strcmp(shell, "zsh") != 0)) {
        return cli_usage(argv[0], "for which shell: bash or zsh");
    }
    return write_script(shell);
}
