#compdef cute-opt cute-ptx cute-link cute-run cute-dump cute-lsp
# zsh completion for the cute tools. Options and views are read from each tool's --help.

local -a options views
local help line group=
help=$(command ${words[1]} ${${(M)words[2]:#(layout|evt)}:+${words[2]}} --help 2>/dev/null)
for line in ${(f)help}; do
    [[ $line == [A-Z]*: ]] && group=${line%:}
    # "  -o, --output=FILE   Write to FILE", "  ptx   Print the PTX"
    if [[ $line =~ '^ +(-[A-Za-z], +)?(--[a-z][a-z0-9-]*=?)[^ ]*(  +(.*))?$' ]]; then
        options+=("${match[2]}${match[4]:+:${match[4]//:/\\:}}")
    elif [[ $group == Views && $line =~ '^  ([a-z]+)  *(.*)$' ]]; then
        views+=("${match[1]}:${match[2]//:/\\:}")
    fi
done

if [[ ${words[CURRENT]} == -* && ${words[CURRENT]} != *=* ]]; then
    _describe -o option options -S ''
elif [[ ${words[CURRENT-1]} == (-arch|--arch) || ${words[CURRENT]} == --arch=* ]]; then
    # The message for an unknown architecture lists the known ones.
    compset -P '*='
    help=$(command ${words[1]} '--arch=?' /dev/null 2>&1)
    compadd native ${=${${help#*known: }%%$'\n'*}}
elif compset -P '--*='; then
    _files
else
    ((CURRENT == 2 && $#views)) && _describe view views
    _files
fi
