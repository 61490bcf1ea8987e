/** Part of the simulation that performs steps, for example a process. The steps of a dead owner never happen. */
export interface StepOwner {
  readonly isAlive: boolean;
  /** Virtual time in milliseconds before which the owner performs no step. */
  readonly pausedUntil: number;
}

interface ScheduledStep {
  at: number;
  /** Steps at the same time happen in the order in which they were scheduled. */
  readonly order: number;
  readonly owner: StepOwner | undefined;
  readonly label: string;
  callback: () => void;
  isCanceled: boolean;
  /** True if the pause of the owner has delayed the step. */
  isDelayed: boolean;
}

/** Number of steps per batch. A batch needs one turn of the real event loop, which costs more than a step. */
const STEPS_PER_BATCH = 64;
const MAX_CANCELED_STEPS = 256;

const doNothing = (): void => {};

/**
 * The time of a simulation. Virtual time passes only from step to step, and every step happens in a turn of the real
 * event loop of its own, so that all promises of a step settle before the next step. A hash of all steps identifies the
 * run.
 */
export class VirtualTime {
  /** Milliseconds since the start of the simulation. */
  now = 0;
  stepCount = 0;
  /** Calls the function with a line of text for each step. */
  onStep: ((line: string) => void) | undefined;
  #hash = 0x811c9dc5;
  #lastOrder = 0;
  #error: Error | undefined;
  #heap: ScheduledStep[] = [];
  /** Number of canceled steps in the heap. */
  #canceledCount = 0;
  readonly #labelHashes = new Map<string, number>();

  /** Hash of the times and labels of all steps. */
  get hash(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, "0");
  }

  /** Schedules a step after `ms` milliseconds, and returns a function that cancels the step. */
  schedule(label: string, ms: number, callback: () => void, owner?: StepOwner): () => void {
    // The engine handles most errors, so an error that is thrown here could stay unnoticed.
    if (Number.isNaN(ms)) this.#error ??= new Error(`The delay of the step "${label}" is not a number.`);
    const step: ScheduledStep = {
      at: this.now + Math.max(0, ms),
      order: ++this.#lastOrder,
      owner,
      label,
      callback,
      isCanceled: false,
      isDelayed: false,
    };
    this.#push(step);
    return () => this.#cancel(step);
  }

  /** Most statements cancel a timeout that is far away, so canceled steps would soon be most of the heap. */
  #cancel(step: ScheduledStep): void {
    if (step.isCanceled) return;
    step.isCanceled = true;
    step.callback = doNothing;
    if (++this.#canceledCount > MAX_CANCELED_STEPS) this.#restoreHeap(() => {});
  }

  /** Calls `change` for each step that is not canceled, and orders the heap again. */
  #restoreHeap(change: (step: ScheduledStep) => void): void {
    const steps = this.#heap.filter((step) => !step.isCanceled);
    this.#heap = [];
    this.#canceledCount = 0;
    for (const step of steps) {
      change(step);
      this.#push(step);
    }
  }

  /** Performs the steps that the pause of `owner` has delayed as soon as possible, because the pause has ended. */
  hurryDelayedSteps(owner: StepOwner): void {
    this.#restoreHeap((step) => {
      if (step.isDelayed && step.owner === owner) step.at = this.now;
    });
  }

  /** Performs steps until `isFinished` returns true or no step is left. Rejects with the error of a step. */
  run(isFinished: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      let isDone = false;
      const end = (settle: () => void): void => {
        isDone = true;
        settle();
      };
      const perform = (): void => {
        if (isDone) return;
        try {
          if (this.#error) throw this.#error;
          if (isFinished() || !this.#performNextStep()) end(resolve);
        } catch (error) {
          end(() => reject(error));
        }
      };
      const performBatch = (): void => {
        perform();
        if (isDone) return;
        for (let count = 1; count < STEPS_PER_BATCH; count++) setImmediate(perform);
        setImmediate(performBatch);
      };
      performBatch();
    });
  }

  #performNextStep(): boolean {
    for (let step = this.#pop(); step; step = this.#pop()) {
      if (step.isCanceled || step.owner?.isAlive === false) continue;
      const pausedUntil = step.owner?.pausedUntil ?? 0;
      if (pausedUntil > step.at) {
        step.at = pausedUntil;
        step.isDelayed = true;
        this.#push(step);
        continue;
      }
      this.now = step.at;
      this.stepCount++;
      this.#hash = Math.imul(this.#hash ^ Math.round(step.at * 1000), 0x01000193);
      this.#hash = Math.imul(this.#hash ^ this.#hashLabel(step.label), 0x01000193);
      this.onStep?.(`${(step.at / 1000).toFixed(4)} ${step.label}`);
      step.callback();
      return true;
    }
    return false;
  }

  #hashLabel(label: string): number {
    let hash = this.#labelHashes.get(label);
    if (hash === undefined) {
      hash = 0x811c9dc5;
      for (let at = 0; at < label.length; at++) hash = Math.imul(hash ^ label.charCodeAt(at), 0x01000193);
      this.#labelHashes.set(label, hash);
    }
    return hash;
  }

  #push(step: ScheduledStep): void {
    const heap = this.#heap;
    let at = heap.push(step) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as ScheduledStep;
      if (!isEarlier(step, above)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = step;
  }

  #pop(): ScheduledStep | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (!first || !last || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      const left = heap[child];
      if (!left) break;
      const right = heap[child + 1];
      if (right && isEarlier(right, left)) child++;
      const below = heap[child] as ScheduledStep;
      if (!isEarlier(below, last)) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

function isEarlier(a: ScheduledStep, b: ScheduledStep): boolean {
  return a.at === b.at ? a.order < b.order : a.at < b.at;
}
