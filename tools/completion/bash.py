"""Writes the completion of a program for bash, which needs only bash. Arguments: the program, the file to write."""

import shlex

import command_line

# NAME, VALUED and the two lists of cases are filled in. A word like --layout=cl comes as three words: --layout, =, cl.
TEMPLATE = r"""# bash completion of @NAME@. Made of what the program says of itself: change that instead.

# What may be at this place: `words`, and `files` that is not empty if a path is, "filter" if it is a filter's.
_@NAME@_value() {
  case $1 in
@VALUES@
  esac
}

_@NAME@_place() {
  case $1 in
@PLACES@
  esac
}

_@NAME@_options() {
  case $1 in
@OPTIONS@
  esac
}

_@NAME@() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local command='' place=0 only_text='' words='' files='' i
  [[ $current == '=' ]] && current=''
  [[ $previous == '=' ]] && previous=${COMP_WORDS[COMP_CWORD - 2]}
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --) [[ $only_text ]] && place=$((place + 1)); only_text=yes ;;
      '=') ;;
@VALUED@
      -*) [[ $only_text ]] && place=$((place + 1)) ;;
      *) if [[ '@HAS_COMMANDS@' && ! $command ]]; then command=${COMP_WORDS[i]}; else place=$((place + 1)); fi ;;
    esac
  done
  COMPREPLY=()
  if [[ ! $only_text && $previous == -* ]] && _@NAME@_value "$command:$previous"; then
    :
  elif [[ ! $only_text && $current == -* ]]; then
    _@NAME@_options "$command"
  else
    _@NAME@_place "$command:$place"
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  if [[ $files == filter ]] && compgen -f -X '!*.bf' -- "$current" >/dev/null; then
    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -X '!*.bf' -- "$current"; compgen -d -- "$current")
  elif [[ $files ]]; then
    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$current")
  fi
  # Outside of a completion bash has no such option.
  [[ ! $files ]] || compopt -o filenames 2>/dev/null || true
}
complete -F _@NAME@ @NAME@
"""


def case(patterns, action):
    return f"    {' | '.join(patterns)}) {action} ;;"


def known(option):
    """Returns the shell's words for an option's values."""
    return "; ".join(([f"words={shlex.quote(' '.join(option.words))}"] if option.words else [])
                     + (["files=" + ("filter" if option.filter else "yes")] if option.path else [])) or ":"


def values(commands):
    found = {}
    for command in commands:
        for option in command.options:
            if option.takes_value:
                found.setdefault(known(option), []).extend(f"{command.name}:{name}" for name in option.names)
    return [case(patterns, action) for action, patterns in found.items()] + ["    *) return 1 ;;"]


def places(commands):
    rows = []
    for command in commands:
        if command.commands:
            rows.append(case([":0"], f"words={shlex.quote(' '.join(one.name for one in command.commands))}"))
        for i, place in enumerate(command.places):
            rows.append(case([f"{command.name}:{'*' if place.many else i}"], known(place)))
    return rows


def options(commands):
    return [case([command.name or "''"], f"words={shlex.quote(' '.join(command.names))}") for command in commands]


def script(name, top):
    commands = [top, *top.commands]
    valued = command_line.with_values(top)
    skip = ([f"      {' | '.join(valued)}) [[ $only_text ]] && place=$((place + 1)) ||",
             "        { [[ ${COMP_WORDS[i + 1]} == '=' ]] && i=$((i + 2)) || i=$((i + 1)); } ;;"] if valued else [])
    filled = {"NAME": name, "VALUES": "\n".join(values(commands)), "PLACES": "\n".join(places(commands)),
              "OPTIONS": "\n".join(options(commands)), "VALUED": "\n".join(skip),
              "HAS_COMMANDS": "yes" if top.commands else ""}
    text = TEMPLATE
    for mark, what in filled.items():
        text = text.replace(f"@{mark}@", what)
    return [line for line in text.rstrip("\n").split("\n")]


if __name__ == "__main__":
    command_line.write(script(*command_line.program()))
