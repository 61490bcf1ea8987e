"""Runs scenarios in order, and prints one outcome per line."""

import asyncio
import json

SCENARIO_TIMEOUT_SECONDS = 20


async def report_outcomes(scenarios: dict) -> None:
    for scenario, work in scenarios.items():
        outcome = {"scenario": scenario, "ok": True}
        try:
            await asyncio.wait_for(work(), SCENARIO_TIMEOUT_SECONDS)
        except TimeoutError:
            outcome |= {"ok": False, "detail": f"hangs: no result within {SCENARIO_TIMEOUT_SECONDS} s"}
        except Exception as error:
            outcome |= {"ok": False, "detail": f"{type(error).__name__}: {error}"}
        print(json.dumps(outcome), flush=True)


def assert_equal(actual, wanted) -> None:
    if actual != wanted:
        raise AssertionError(f"{actual!r} instead of {wanted!r}")
