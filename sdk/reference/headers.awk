# Makes Doxygen's comments of ours, so that the headers stay plain C: /* … */ above something becomes
# /** … */, behind a field /**< … */, and the one on top of a header is about the file.

# What Doxygen would take for a command or for HTML; text in `` stays.
function quote(text, n, parts, i) {
    n = split(text, parts, "`")
    for (i = 1; i <= n; i += 2) {
        gsub(/\\/, "\\\\\\\\", parts[i])
        gsub(/</, "\\&lt;", parts[i])
        gsub(/>/, "\\&gt;", parts[i])
    }
    text = parts[1]
    for (i = 2; i <= n; i++)
        text = text "`" parts[i]
    return text
}

/SPDX-License-Identifier/ { next } # its line goes to "@file" below: the numbers of lines stay
/^\/\* -----/ { print ""; next } # a rule between parts of a header

!inside {
    at = index($0, "/*")
    if (!at) {
        print
        next
    }
    code = substr($0, 1, at - 1)
    text = substr($0, at + 2)
    open = code ~ /^[ \t]*$/ ? "/**" : "/**<"
    if (open == "/**" && !seen) {
        seen = 1
        open = "/** @file\n *"
    }
    printf "%s%s", code, open
    $0 = text
    inside = 1
}
inside {
    end = index($0, "*/")
    if (end) {
        print quote(substr($0, 1, end - 1)) substr($0, end)
        inside = 0
    } else
        print quote($0)
}
