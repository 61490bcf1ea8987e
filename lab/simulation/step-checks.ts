/** A step of a turn. Every attempt at the turn has the same steps. */
interface SimulatedStep {
  readonly messageId: string;
  readonly position: number;
  readonly attempt: number;
}

interface FinishedStep {
  readonly attempt: number;
  readonly result: string;
}

/** Checks that no later attempt at a turn repeats a finished step, and that its result stays the same (E18). */
export class StepChecks {
  readonly #finished = new Map<string, FinishedStep>();
  readonly #breakPromise: (text: string) => void;
  #executionCount = 0;

  constructor(breakPromise: (text: string) => void) {
    this.#breakPromise = breakPromise;
  }

  /** Records the execution of a step, and returns its result, which differs in each execution. */
  recordExecution(step: SimulatedStep): string {
    const finished = this.#finished.get(toStepKey(step));
    // An attempt that another attempt has replaced can still be running.
    if (finished && step.attempt > finished.attempt)
      this.#breakPromise(
        `attempt ${step.attempt} repeats step ${toStepKey(step)}, which attempt ${finished.attempt} has finished`,
      );
    return `${step.attempt}.${++this.#executionCount}`;
  }

  /** Records the result that `once` has returned to an attempt. */
  recordResult(step: SimulatedStep, result: string): void {
    const key = toStepKey(step);
    const finished = this.#finished.get(key);
    if (!finished) this.#finished.set(key, { attempt: step.attempt, result });
    else if (step.attempt > finished.attempt && result !== finished.result)
      this.#breakPromise(
        `step ${key} returns ${result} to attempt ${step.attempt}, and ${finished.result} to attempt ${finished.attempt}`,
      );
  }
}

function toStepKey({ messageId, position }: SimulatedStep): string {
  return `${messageId}/${position}`;
}
