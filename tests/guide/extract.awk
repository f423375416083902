# The blocks of one kind in a page, put together; compilers then name the page's own lines.
#   kind: what follows the opening fence; page: its name; until: a text whose block is not taken any
#   more, nor those behind it; first: only one block
/^```/ {
    if (inside) {
        inside = 0
        if (until == "" || index(block, until) == 0)
            printf "%s", block
        else
            exit
        if (first)
            exit
    } else {
        inside = $0 == "```" kind
        block = kind == "c" ? "#line " FNR + 1 " \"" page "\"\n" : ""
    }
    next
}
inside { block = block $0 "\n" }
