"""Functions that the tables share."""


def table(header: list, rows: list) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in [header, ["---"] * len(header), *rows]]
    return "\n".join(lines)


def machine(context: dict) -> list:
    """Returns the facts about the machine in Google Benchmark's context, one a line."""
    load = context.get("load_avg") or [0]
    return [f"- bfstore {context['bfstore']}, compiler {context['compiler']}",
            f"- {context['cpu']}, {context['num_cpus']} cores, {context['machine']}; {context['kernel']}; files on "
            f"{context['filesystem']}; load {load[0]:.1f} at the start"]
