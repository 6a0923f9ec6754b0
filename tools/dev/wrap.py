#!/usr/bin/env python3
"""wrap.py <file> ...: breaks lines that are too long, in R code (120 characters) and in the comments of C++ (130; the code is clang-format's).

A line of code is broken after a comma or an operator, outside the fewest brackets, and aligned with the bracket it stands in; a comment gives its last words
to the next line. Strings, tables, formulas on lines of their own and examples stay as they are. A one-line `if` or function becomes a block. R files must
parse to the same as before but for the braces of such blocks, or nothing is written.
"""
import os
import re
import subprocess
import sys
import tempfile

OPEN, CLOSE = "([{", ")]}"


def scan(line, stack=()):
    """Places of a line of R outside strings: (brackets open [(kind, column of alignment)], breaks [(column after, depth, kind, brackets)], column of a comment or
    None); None where a string goes on in the next line. `stack`: brackets open before the line."""
    stack, breaks, i, n = list(stack), [], 0, len(line)
    while i < n:
        c = line[i]
        if c in "\"'`":
            j = i + 1
            while j < n and line[j] != c:
                j += 2 if line[j] == "\\" and c != "`" else 1
            if j >= n:
                return None
            i = j + 1
            continue
        if c == "#":
            return stack, breaks, i
        if c in OPEN:
            stack.append((c, i + 1))
            if c == "(" and i + 1 < n and line[i + 1] != ")" and re.search(r"[\w.]$", line[:i]):
                breaks.append((i + 1, len(stack) + 50, "(", list(stack)))
        elif c in CLOSE:
            if not stack:
                return stack, [], None
            stack.pop()
        elif c == "," and i + 1 < n and line[i + 1] == " ":
            breaks.append((i + 1, len(stack), ",", list(stack)))
        elif line.startswith(("|| ", "&& ", "+ ", "- ", "| ", "& ", "/ ", "* "), i) and i > 0 and line[i - 1] == " ":
            width = 2 if line[i:i + 2] in ("||", "&&") else 1
            before = line[:i].rstrip()
            if before and before[-1] not in "(,=<-{[|&+*/":  # not a sign
                breaks.append((i + width, len(stack) + (0.3 if width == 2 else 0.6), "op", list(stack)))
        i += 1
    return stack, breaks, None


def closing(line, at):
    """The column of the bracket that closes the one at column `at`, or None."""
    depth, i, n = 0, at, len(line)
    while i < n:
        c = line[i]
        if c in "\"'`":
            j = i + 1
            while j < n and line[j] != c:
                j += 2 if line[j] == "\\" and c != "`" else 1
            i = j
        elif c in OPEN:
            depth += 1
        elif c in CLOSE:
            depth -= 1
            if depth == 0:
                return i
        i += 1
    return None


def split_else(text):
    """(what is before, what is after) an ` else ` outside brackets and strings, or None."""
    i, depth, n = 0, 0, len(text)
    while i < n:
        c = text[i]
        if c in "\"'`":
            j = i + 1
            while j < n and text[j] != c:
                j += 2 if text[j] == "\\" and c != "`" else 1
            i = j
        elif c in OPEN:
            depth += 1
        elif c in CLOSE:
            depth -= 1
        elif depth == 0 and text.startswith(" else ", i):
            return text[:i], text[i + 6:]
        i += 1
    return None


def braces(line, follow):
    """A one-line `if`, loop or function as a block, or None. `follow` is the next line."""
    found = scan(line)
    if found is None or found[0] or found[2] is not None or line.rstrip().endswith((",", "{", "+", "|", "&", "-", "(", "=")) or re.match(r" *else\b", follow):
        return None
    indent = re.match(r" *", line).group()
    head = re.match(r" *(?:[\w.$\[\]\"]+ <- )?(?:if|for|while|function) ?\(", line)
    if head is None:
        return None
    end = closing(line, head.end() - 1)
    if end is None or not line[end + 1:].startswith(" ") or line[end + 2:].startswith(("%", "+", "-", "*", "/", "|", "&")):
        return None
    body = line[end + 2:].strip()
    if body.startswith("{"):
        return None
    is_if = re.match(r" *(?:[\w.$\[\]\"]+ <- )?if ?\($", head.group()) is not None
    parts = split_else(body) if is_if else None
    if parts is None:
        return [line[:end + 1] + " {", indent + "  " + body, indent + "}"]
    out = [line[:end + 1] + " {", indent + "  " + parts[0]]
    rest = parts[1]
    while rest.startswith("if ("):
        end = closing(rest, 3)
        parts = split_else(rest[end + 2:])
        out += [indent + "} else " + rest[:end + 1] + " {", indent + "  " + (parts[0] if parts else rest[end + 2:])]
        if parts is None:
            return out + [indent + "}"]
        rest = parts[1]
    return out + [indent + "} else {", indent + "  " + rest, indent + "}"]


def wrap_code(line, limit, follow="", open_before=()):
    block = braces(line, follow) if not open_before else None
    if block is not None:
        out = []
        for part in block:
            out += wrap_code(part, limit) if len(part) > limit else [part]
        return out
    out, carry, start = [], list(open_before), re.match(r" *", line).group()
    for _ in range(40):
        if len(line) <= limit:
            break
        found = scan(line, carry)
        if found is None:
            break
        _, breaks, comment = found
        indent = re.match(r" *", line).group()
        if comment is not None:
            if not line[:comment].strip():
                break
            out.insert(0, start + line[comment:])
            line = line[:comment].rstrip()
            continue
        fit = [b for b in breaks if len(indent) + 8 < b[0] <= limit and not any(k == "{" for k, _ in b[3][len(carry):])]
        if not fit:  # a string that alone is too long: the rest goes to the next line
            late = [b for b in breaks if b[0] > limit and b[2] == ","]
            if not late:
                break
            fit = late[:1]
        best = max((b for b in fit if b[1] == min(c[1] for c in fit)), key=lambda b: b[0])
        if best[0] < 0.45 * limit:  # not a scrap at the start of the line where a deeper break fills it
            deeper = [b for b in fit if b[0] >= 0.6 * limit and b[2] != "("]
            if deeper:
                best = max((b for b in deeper if b[1] == min(c[1] for c in deeper)), key=lambda b: b[0])
        stack = best[3]
        if best[2] == "(":
            column = len(indent) + 2
            stack = stack[:-1] + [("(", column)]
        elif stack and stack[-1][0] != "{":
            column = stack[-1][1]
        else:
            column = len(indent) if out else len(indent) + 2
        out.append(line[:best[0]].rstrip())
        line = " " * column + line[best[0]:].strip()
        carry = stack
    return out + [line]


def split_words(text, room):
    """The longest beginning of text that fits, broken at a space outside backticks, brackets and braces; None if there is none."""
    ticks, depth, best = False, 0, None
    for i, c in enumerate(text):
        if c == "`":
            ticks = not ticks
        elif not ticks and c in "[{":
            depth += 1
        elif not ticks and c in "]}":
            depth -= 1
        elif c == " " and not ticks and depth <= 0 and text[:i].strip():
            if i > room and best is not None:
                break
            best = i  # beyond the room only where a formula leaves no earlier place
            if i > room:
                break
    return None if best is None else (text[:best].rstrip(), text[best:].strip())


def wrap_comment(lines, at, mark, limit):
    """Breaks lines[at] and hands the rest on; returns nothing, changes lines."""
    line = lines[at]
    lead = re.match(r"( *)" + re.escape(mark) + r"( *)", line)
    text = line[lead.end():]
    item = re.match(r"([*-]|\d+[.)]) +|@param +|@return +|@seealso +|@section +|@references +|@title +|@description +|@details +", text)
    more = "  " if item and lead.group(2) == " " else ""
    room = limit - lead.end()
    parts = split_words(text, room)
    if parts is None or re.search(r"\S {2,}\S", text):
        return
    first, rest = parts
    prefix = lead.group(1) + mark + (lead.group(2) or " ") + more
    lines[at] = lead.group() + first
    if at + 1 < len(lines):
        follow = lines[at + 1]
        same = follow.startswith(prefix) and follow[len(prefix):len(prefix) + 1] not in ("", " ", "*", "-", "|", "@", "\\", "`")
        if same and not re.match(r"\d+[.)]", follow[len(prefix):]) and not re.search(r"\S {2,}\S", follow[len(prefix):]):
            lines[at + 1] = prefix + rest + " " + follow[len(prefix):]
            return
    lines.insert(at + 1, prefix + rest)


def deepen(line, depth):
    """Brackets that are open after the line."""
    i, n = 0, len(line)
    while i < n:
        c = line[i]
        if c in "\"'`":
            j = i + 1
            while j < n and line[j] != c:
                j += 2 if line[j] == "\\" and c != "`" else 1
            i = j
        elif c == "#":
            return
        elif c in OPEN:
            depth.append(c)
        elif c in CLOSE and depth:
            depth.pop()
        i += 1


def whole(lines, i):
    """How many lines the statement at line i has, if they can be joined to one; 1 otherwise."""
    depth, taken = [], 0
    while i + taken < len(lines) and taken < 12:
        line = lines[i + taken]
        if "#" in line or '"' in line and line.count('"') % 2 or "'" in line or line.rstrip().endswith(("{", "}")):
            return 1
        deepen(line, depth)
        taken += 1
        if "{" in depth:
            return 1
        if not depth:
            return taken if not line.rstrip().endswith(("+", "|", "&", "-", "=", "*", "/", "else")) else 1
    return 1


def wrap_r(text, limit=120):
    lines, i, tag, fence, depth = text.split("\n"), 0, "", False, []
    while i < len(lines):
        line = lines[i]
        if line.startswith("#'"):
            found = re.match(r"#' @(\w+)", line)
            if found:
                tag, fence = found.group(1), False
            section = re.match(r"#' (@section [^:]+:) (\S.*)$", line)
            if section and len(line) > limit:
                lines[i:i + 1] = ["#' " + section.group(1), "#' " + section.group(2)]
                i += 1
                continue
            if re.match(r"#' *```", line):
                fence = not fence
            if len(line) > limit and tag not in ("examples", "examplesIf", "usage") and not fence and not re.match(r"#' *\|", line) and "\\preformatted" not in line \
                    and not (tag == "section" and found):
                wrap_comment(lines, i, "#'", limit)
        else:
            tag, fence = "", False
            if len(line) > limit:
                if re.match(r" *#", line):
                    wrap_comment(lines, i, "#", limit)
                else:
                    inside = bool(depth) and depth[-1] != "{"
                    taken = 1 if inside else whole(lines, i)
                    joined = line if taken == 1 else " ".join([line.rstrip()] + [more.strip() for more in lines[i + 1:i + taken]])
                    joined = re.sub(r"([(\[]) ", r"\1", joined) if taken > 1 else joined
                    after = lines[i + taken] if i + taken < len(lines) else ""
                    lines[i:i + taken] = wrap_code(joined, limit, after, [("(", len(line) - len(line.lstrip()))] if inside else ())
        line = lines[i]
        if not line.startswith("#'"):
            deepen(line, depth)
        i += 1
    return "\n".join(lines)


def wrap_cpp(text, limit=130):
    lines, i = text.split("\n"), 0
    while i < len(lines):
        line = lines[i]
        if len(line) > limit:
            if re.match(r" *//", line):
                wrap_comment(lines, i, "//", limit)
            else:
                found = re.match(r"^( *)(.*?\S) {2}// (.*)$", line)
                if found and '"' not in found.group(3):
                    lines[i:i + 1] = [found.group(1) + "// " + found.group(3), found.group(1) + found.group(2)]
                    continue
        i += 1
    return "\n".join(lines)


def same_r(pairs):
    """Which of the pairs of texts parse to the same but for braces around single statements."""
    code = ("bare <- function(e) { if (is.call(e)) { if (identical(e[[1L]], as.name('{')) && length(e) == 2L) return(bare(e[[2L]])); "
            "for (i in seq_along(e)) if (!identical(e[[i]], quote(expr = )) && !is.null(e[[i]])) e[[i]] <- bare(e[[i]]) }; e }; "
            "all <- function(f) lapply(as.list(parse(f, keep.source = FALSE)), bare); d <- commandArgs(TRUE); "
            "for (i in seq_len(as.integer(d[2]))) cat(tryCatch(identical(all(file.path(d[1], paste0(i, 'a.R'))), all(file.path(d[1], paste0(i, 'b.R')))), "
            "error = function(e) FALSE), '')")
    with tempfile.TemporaryDirectory() as where:
        for i, (a, b) in enumerate(pairs, 1):
            open(os.path.join(where, f"{i}a.R"), "w").write(a)
            open(os.path.join(where, f"{i}b.R"), "w").write(b)
        said = subprocess.run(["Rscript", "-e", code, where, str(len(pairs))], capture_output=True, text=True).stdout.split()
    return [word == "TRUE" for word in said]


def main(names):
    before = {name: open(name).read() for name in names}
    after = {name: wrap_r(text) if name.endswith(".R") else wrap_cpp(text) for name, text in before.items()}
    changed = [name for name in names if after[name] != before[name]]
    r_files = [name for name in changed if name.endswith(".R")]
    same = dict(zip(r_files, same_r([(before[name], after[name]) for name in r_files])))
    for name in changed:
        if same.get(name, not name.endswith(".R")):
            open(name, "w").write(after[name])
        else:
            print(f"{name}: left as it is, wrapping would change its meaning", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
