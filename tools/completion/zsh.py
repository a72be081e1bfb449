"""Writes the completion of a program for zsh, by its _arguments. Arguments: the program, the file to write."""

import command_line


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def said(text):
    """Returns a description for _arguments."""
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:").replace("\n", " ")


def action(option):
    if option.words:
        return "(" + " ".join(option.words) + ")"
    if option.filter:
        return '_files -g "*.bf"'  # all files if there are none such
    return "_files" if option.path else " "


def option_words(option):
    """Returns the words of an option. All names of an option exclude each other."""
    value = f":{said(option.kind)}:{action(option)}" if option.takes_value else ""
    help_text = f"[{said(option.help)}]"
    alone = "(- *)" if "--help" in option.names or "--version" in option.names else "(" + " ".join(option.names) + ")"
    repeated = option.many and option.takes_value
    rows = []
    for name in option.names:
        equals = ("=" if name.startswith("--") else "+") if option.takes_value else ""
        rows.append(quoted(("*" if repeated else alone) + name + equals + help_text + value))
    return rows


def place_words(place, number):
    name = said(place.names[0])
    # Without the guard zsh offers no option at the place of a word that it does not know.
    what = action(place) if place.words or place.path else f"_guard \"^-*\" {name}"
    return quoted(f"{'*' if place.many else number}:{name}:{what}")


def arguments(command):
    words = [word for option in command.options for word in option_words(option)]
    return words + [place_words(place, i + 1) for i, place in enumerate(command.places)]


def call(words, indent):
    return [f"{indent}_arguments -s -S \\"] + [f"{indent}  {word} \\" for word in words[:-1]] + [f"{indent}  {words[-1]}"]


def script(name, top):
    rows = [f"#compdef {name}", f"# zsh completion of {name}. Made of what the program says of itself: change that instead.", ""]
    if not top.commands:
        return rows + call(arguments(top), "")
    rows += [f"_{name}_commands() {{", "  local -a commands=("]
    rows += [f"    {quoted(one.name + ':' + said(one.help))}" for one in top.commands]
    rows += ["  )", "  _describe command commands", "}", "", f"_{name}() {{", "  local context state state_descr line",
             "  typeset -A opt_args"]
    words = arguments(top) + [quoted(f"1:command:_{name}_commands"), quoted("*::argument:->arguments")]
    rows += [row.replace("_arguments -s -S", "_arguments -C -s") for row in call(words, "  ")]
    rows += ["  [[ $state == arguments ]] || return", "  case $line[1] in"]
    for command in top.commands:
        rows += [f"    {command.name})", *call(arguments(command), "      "), "      ;;"]
    return rows + ["  esac", "}", "", f'_{name} "$@"']


if __name__ == "__main__":
    command_line.write(script(*command_line.program()))
