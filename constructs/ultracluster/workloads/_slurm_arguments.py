"""Arguments of the program of an sbatch file, from the settings of its workload."""

from fractions import Fraction

from ultracluster.workloads._slurm_form import SlurmForm
from ultracluster.workloads._workload import Settings


def overrides(form: SlurmForm, given: Settings) -> str:
    """Return the options of a framework as an array of the shell."""
    options = form.framework.options(given, "$RUN", _times) if form.framework else []
    words = " ".join(f'"{option}"' for option in options)
    return f"overrides=({words})"


def _times(number: Fraction) -> str:
    share = f" / {number.denominator}" if number.denominator > 1 else ""
    return f"$((SLURM_JOB_NUM_NODES * gpus_per_node * {number.numerator}{share}))"


def downloads(form: SlurmForm, directory: str, *, internet: bool) -> list[str]:
    """Return the lines that set the cache of Hugging Face, which nodes without internet access use alone."""
    lines = [f'export HF_HOME="${{HF_HOME:-{directory}}}"']
    if not internet:
        lines += [f"# {form.unconnected}."] if form.unconnected else []
        lines.append('export HF_HUB_OFFLINE="${HF_HUB_OFFLINE:-1}"')
    return lines


def requires(given: Settings) -> list[str]:
    """Return the lines that end a job whose files do not exist; data may be the beginning of the names of its files."""
    lines = []
    for name in ("model", "program", "data"):
        if (path := getattr(given, name)).startswith("/"):
            missing = f'{{ echo "{name}={path} does not exist on $(hostname)" >&2; exit 2; }}'
            lines.append(f'[ $# -gt 0 ] || [ -n "${{PAYLOAD:-}}" ] || compgen -G "{path}*" >/dev/null || {missing}')
    return lines


def arguments(form: SlurmForm, given: Settings) -> list[str]:
    """Return the arguments of a job that is submitted without any."""
    if form.framework:
        return [given.recipe or form.recipe] if form.recipe else []
    if form.server:
        return [given.model, *form.server.options(given)] if given.model else []
    options = [word for key in ("model", "data") if (value := getattr(given, key)) for word in (f"--{key}", value)]
    if given.sequence and not given.program:
        options += ["--length", str(given.sequence)]
    program = given.program or form.program or ("ultracluster_train.py" if options else "")
    return [program, *options] if program else []
