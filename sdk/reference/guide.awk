# Names the headings of the guide as GitHub does, which its links count on.
/^```/ { code = !code }
!code && /^##* / {
    id = tolower($0)
    sub(/^#* /, "", id)
    gsub(/[^a-z0-9 -]/, "", id)
    gsub(/ /, "-", id)
    print $0 " {#" id "}"
    next
}
{ print }
