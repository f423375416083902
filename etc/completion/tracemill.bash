# SPDX-License-Identifier: Apache-2.0
# Completion of tracemill in bash: the program itself says what can stand at the cursor.

_tracemill() {
    local line=${COMP_LINE:0:COMP_POINT} words candidate meaning
    # Blanks alone separate words here: bash would cut at '=' and ':' too.
    read -a words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    local current=${words[${#words[@]} - 1]}
    # What bash has taken for words of their own before the part that it will replace.
    local before=${current%"${current##*[=:]}"} part=${current##*[=:]}
    [[ $COMP_WORDBREAKS == *:* && $COMP_WORDBREAKS == *=* ]] || before="" part=$current
    COMPREPLY=()
    while IFS=$'\t' read -r candidate meaning; do
        case $candidate in
        :files) compopt -o filenames && mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$part") ;;
        :folders) compopt -o filenames && mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$part") ;;
        *)
            [[ $candidate == *= ]] && compopt -o nospace
            COMPREPLY+=("${candidate#"$before"}")
            ;;
        esac
    done < <("${words[0]}" complete -- "${words[@]:1}" 2>/dev/null)
}

complete -F _tracemill tracemill
