"""The sentence that a person reads in the Git host's delivery view: what happened, and what to do about it (C2).

Pure.
"""

from services.kernel.wire.deliveries import DeliveryAnswer, Note, Outcome


def hint(answer: DeliveryAnswer, *, project: str) -> str:
    """What `answer` means and which command goes on from there."""
    return _replayed(answer, project) if answer.duplicate else _first(answer, project)


def _first(answer: DeliveryAnswer, project: str) -> str:
    match answer.outcome:
        case Outcome.ACCEPTED:
            return f"The run is queued; `anvil run watch {answer.run_id}` follows it."
        case Outcome.IGNORED_PING:
            return "The webhook works: the next push to the project's branch starts a run."
        case Outcome.IGNORED_EVENT if answer.note is Note.SKIP_CI:
            return "Nothing was started: the commit's message asks for no run."
        case Outcome.IGNORED_EVENT:
            return "Nothing was started: only a push of a commit to a branch starts a run."
        case Outcome.IGNORED_BRANCH:
            return (
                "Nothing was started: this is not the project's branch; "
                f"`anvil run start --project {project} --branch BRANCH` runs another one."
            )
        case Outcome.QUEUE_FULL:
            return "Nothing was started: the project's queue is full; sending this delivery again is safe."


def _replayed(answer: DeliveryAnswer, project: str) -> str:
    replay = "This delivery was handled before: a redelivery replays the stored outcome and starts nothing;"
    if answer.outcome is Outcome.ACCEPTED:
        return f"{replay} `anvil run rerun {answer.run_id}` runs the commit again."
    return f"{replay} `anvil run start --project {project}` runs the branch as it is now."
