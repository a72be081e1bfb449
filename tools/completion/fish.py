"""Writes the completion of a program for fish. Arguments: the program, the file to write."""

import command_line

# True in the program's command $argv[1] ("": no command yet). With a number: only at that place after the command.
CONDITION = r"""function __@NAME@_at
    set -l words (commandline -opc)
    set -e words[1]
    set -l command ''
    set -l place 0
    set -l skip no
    set -l only_text no
    for word in $words
        if test $skip = yes
            set skip no
        else if test $only_text = no; and test "$word" = --
            set only_text yes
        else if test $only_text = no; and contains -- "$word" @VALUED@
            set skip yes
        else if test $only_text = no; and string match -q -- '-*' "$word"
        else if test -z "$command"; and test @HAS_COMMANDS@ = yes
            set command "$word"
        else
            set place (math $place + 1)
        end
    end
    test "$command" = "$argv[1]"; and begin
        not set -q argv[2]; or test $place = $argv[2]
    end
end"""


def quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def names(option):
    return " ".join(("-l " + name[2:]) if name.startswith("--") else ("-s " + name[1:]) for name in option.names)


SUFFIX = ' -k -a "(__fish_complete_suffix .bf)"'  # *.bf first, and then the other files


def known(place):
    words = f" -a {quoted(' '.join(place.words))}" if place.words else ""
    return words + (SUFFIX if place.filter else " -F" if place.path else "")


def explained(option, helps):
    """Returns the words of an option, those with a help of their own with that."""
    rows = [f"{word}\t{helps[name, word]}" for word in option.words for name in option.names if (name, word) in helps]
    if len(rows) < len(option.words):
        return known(option)
    return " -k -a " + quoted("(printf '%s\\n' " + " ".join(quoted(row) for row in rows) + ")")


def value(option, helps):
    if option.words:
        return " -x" + explained(option, helps)
    if option.takes_value:
        return " -x" + SUFFIX if option.filter else " -r -F" if option.path else " -x"
    return ""


def script(name, top):
    condition = CONDITION.replace("@NAME@", name).replace("@VALUED@", " ".join(command_line.with_values(top)) or "''")
    rows = [f"# fish completion of {name}. Made of what the program says of itself: change that instead.",
            condition.replace("@HAS_COMMANDS@", "yes" if top.commands else "no"), "", f"complete -c {name} -f"]
    for one in top.commands:
        rows.append(f"complete -c {name} -n {quoted(f'__{name}_at {quoted(str())}')} -a {one.name} -d {quoted(one.help)}")
    helps = command_line.word_helps(top)
    for command in [top, *top.commands]:
        here = f"__{name}_at {quoted(command.name)}"
        rows += [f"complete -c {name} -n {quoted(here)} {names(option)}{value(option, helps)} -d {quoted(option.help)}"
                 for option in command.options]
        rows += [f"complete -c {name} -n {quoted(here + ('' if place.many else f' {i}'))}{known(place)}"
                 for i, place in enumerate(command.places) if known(place)]
    return rows


if __name__ == "__main__":
    command_line.write(script(*command_line.program()))
