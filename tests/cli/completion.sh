#!/bin/sh
# What a shell completes. The words come from the table of commands.
sonde completion bash >script
echo "status $?"
complete_words() {
    bash -c '. ./script; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sonde; echo "${COMPREPLY[@]}"' - "$@"
}
complete_words sonde ex
complete_words sonde dissect --re
complete_words sonde infer --s
complete_words sonde exec --pr
complete_words sonde exec -d sim:gtx7
complete_words sonde exec -d sim : gtx5
echo >some_file.ptx
complete_words sonde exec some
complete_words sonde nothing --x
sonde completion zsh >script
echo "status $?"
head -1 script
grep -c '^    "[a-z]*:' script
run sonde completion
run sonde completion fish
run sonde completion bash zsh
tell sonde completion bash >/dev/full
