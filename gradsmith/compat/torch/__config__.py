"""How the package was built, as texts."""

from gradsmith import environment

__all__ = ["parallel_info", "show"]


def show() -> str:
    """Versions, compiler, kernels and threads; `gradsmith.environment.facts` has them one by one."""
    facts = environment.facts()
    return "\n".join(f"{name}: {value}" for name, value in facts.items() if isinstance(value, str)) + "\n"


def parallel_info() -> str:
    """What is known of threads."""
    return f"{environment.facts()['threads']}\n"
