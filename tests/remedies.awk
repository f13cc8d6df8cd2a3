# remedies.awk: the strings of C sources by which the program tells somebody what to do, one a line: every literal in err_set( ) or err_prefix( ), and those
# of three words and more in the files that TEXTS names, if they hold one of the words of ADVICE. Literals side by side are one; \n is kept as it is written.
# awk -f tests/remedies.awk $(git ls-files '*.c')
BEGIN {
    TEXTS = "^core/io/|^core/diff/diff_(text|reference|names)\\.c|^core/models/(layout_.*|checkpoint)\\.c|^core/base/file|^core/session/ask/ask_(info|diff)\\.c"
    ADVICE = "expected|[Cc]heck |[Nn]ame (it|a|an|one|the|another|them|every|two|numbers|files?|what|%)|(^|[ (])[Ss]ay |[Gg]ive |(^|[ (:])[Pp]ut |(^|[ (:;])[Ww]rite |[Ff]etch|[Gg]et |" \
        "[Tt]ake |[Cc]onvert|[Ss]ave |[Mm]ake |[Ii]nstall|`|did you mean|go(es)? from|must (be|have)|may (be|have)|allowed|is 0 to|or 0 to|(^|[ .])[Cc]lose [a-z]|[Tt]ry|" \
        "[Cc]hoose|[Rr]emove|[Uu]se |known are|[Ss]cale (it|the)|[Ll]eave|[Rr]ecord |--[a-z]|[Ee]xport it|[Rr]ename|[Rr]ebuild|delete|opens? (one|another|it|a )|VITRINE_|" \
        "what\\?|whom\\?|where\\?|which (lesson|task|receipt|pictures)\\?|[Tt]rain |shorten|[Aa]sk |copy|such as|for example|[Cc]orrect|type |shows? |has gelu|it is: |[Rr]emove|until|" \
        "undo|pull|lists|TERM=|instead|set the|Let it|cut it|smaller|lower|fewer|shorter|complete\\?|two models|ends it|starts? with|look at|Space|P goes|find that|chmod|first$|" \
        "to end|makes some|share off|vitrine [a-z]|is 1 to %|is 0 |above 0|has at most|names them|Allow|: [a-z]+ it first"
}
function done_with(   text) {
    if (literal == "") return
    text = substr(literal, 2)
    literal = ""
    if (text == "" || seen[text]) return
    said = errs > 0
    if (!said && !(FILENAME ~ TEXTS && split(text, w, " ") >= 3)) return
    if (text !~ ADVICE) return
    seen[text] = 1
    print text
}
FNR == 1 { done_with(); depth = 0; errs = 0; comment = 0; directive = 0 }
{
    line = $0
    if (!comment && line ~ /^[ \t]*#[ \t]*include/) next
    n = length(line)
    for (i = 1; i <= n; i++) {
        c = substr(line, i, 1)
        if (comment) {
            if (substr(line, i, 2) == "*/") { comment = 0; i++ }
            continue
        }
        if (c == " " || c == "\t" || c == "\\") continue
        if (substr(line, i, 2) == "/*") { comment = 1; i++; continue }
        if (substr(line, i, 2) == "//") break
        if (c == "'") {
            done_with()
            i++
            while (i <= n && substr(line, i, 1) != "'") { if (substr(line, i, 1) == "\\") i++; i++ }
            word = ""
            continue
        }
        if (c == "\"") {
            if (literal == "") literal = "="
            for (i++; i <= n && (c = substr(line, i, 1)) != "\""; i++) {
                if (c == "\\") { i++; c = substr(line, i, 1); if (c != "\"" && c != "\\") c = "\\" c }
                literal = literal c
            }
            word = ""
            continue
        }
        if (match(substr(line, i), /^[A-Za-z_][A-Za-z_0-9]*/)) {
            word = substr(line, i, RLENGTH)
            i += RLENGTH - 1
            if (literal != "" && word ~ /^[A-Z][A-Z_0-9a-z]*$/) literal = literal (word ~ /^PRI/ ? "" : "%s")
            else done_with()
            continue
        }
        done_with()
        if (c == "(") { depth++; kind[depth] = word ~ /^err_(set|prefix)$/; errs += kind[depth] }
        if (c == ")" && depth > 0) { errs -= kind[depth]; depth-- }
        word = ""
    }
}
END { done_with() }
