# bash completion for the cute tools. Options are read from each tool's --help.

_cute()
{
    local cur=$2 tool=$1 option=
    COMPREPLY=()

    # bash splits --arch=sm_ into three words.
    if [[ ${COMP_WORDS[COMP_CWORD]} == '=' ]]; then
        option=${COMP_WORDS[COMP_CWORD - 1]} cur=
    elif ((COMP_CWORD >= 2)) && [[ ${COMP_WORDS[COMP_CWORD - 1]} == '=' ]]; then
        option=${COMP_WORDS[COMP_CWORD - 2]}
    elif ((COMP_CWORD >= 1)); then
        option=${COMP_WORDS[COMP_CWORD - 1]}
    fi
    case $option in
    -arch | --arch)
        COMPREPLY=($(compgen -W 'sm_75 sm_80 sm_86 sm_87 sm_88 sm_89 sm_90 sm_90a sm_100 sm_100a sm_100f sm_103 sm_103a
            sm_103f sm_110 sm_110a sm_110f sm_120 sm_120a sm_120f sm_121 sm_121a sm_121f' -- "$cur"))
        return
        ;;
    esac

    # The views with their own options.
    local view=
    [[ $tool == *cute-dump && $COMP_CWORD -gt 1 && ${COMP_WORDS[1]} == @(layout|evt) ]] && view=${COMP_WORDS[1]}

    # An option whose --help lists its values, such as --emit=ptx|llvm|mlir.
    if [[ $option =~ ^--?[A-Za-z][A-Za-z0-9-]*$ && $cur != -* ]]; then
        local values name=${option#-}
        name=${name#-}
        values=$("$tool" $view --help 2>/dev/null |
            sed -nE "s/^ *(-[A-Za-z], )?--$name\\[?=<?([a-z0-9-]+(\\|[a-z0-9-]+)+)>?\\]?( .*|\$)/\\2/p" | tr '|' ' ')
        if [[ $values ]]; then
            COMPREPLY=($(compgen -W "$values" -- "$cur"))
            return
        fi
    fi
    if [[ $cur == -* ]]; then
        # Options: words of the help at the start of a line, or after a short option.
        local words
        words=$("$tool" $view --help 2>/dev/null | sed -nE \
            -e 's/^ *(-[A-Za-z]),? .*$/\1\n&/p;t next' -e 'p;:next' |
            grep -oE '^ *(-[A-Za-z],? *)?--?[A-Za-z][A-Za-z0-9_-]*=?' | grep -oE -- '--?[A-Za-z][A-Za-z0-9_-]*=?$')
        COMPREPLY=($(compgen -W "$words" -- "$cur"))
        [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
        return
    fi
    if [[ $tool == *cute-dump && $COMP_CWORD == 1 ]]; then
        # Views listed by --help.
        local commands
        commands=$("$tool" --help 2>/dev/null | sed -nE '/^Views:/,/^$/s/^  ([a-z][a-z0-9-]*)( .*|$)/\1/p')
        COMPREPLY=($(compgen -W "$commands" -- "$cur") $(compgen -f -- "$cur"))
        compopt -o filenames
        return
    fi
    COMPREPLY=($(compgen -f -- "$cur"))
    compopt -o filenames
}

complete -F _cute cute-opt cute-ptx cute-lsp cute-link cute-run cute-dump
