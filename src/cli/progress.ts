import type { Context } from "./context.ts";

/** How far something long is. */
export interface Step {
  readonly done: number;
  readonly total: number;
  /** Done before this began: it says nothing of the pace. */
  readonly before?: number;
  readonly note?: string;
}

/**
 * Tells on stderr how far something is: on a terminal in one line with a bar, which is written over; elsewhere a line for
 * every tenth.
 */
export class Progress {
  readonly #context: Context;
  readonly #label: string;
  readonly #now: () => number;
  readonly #began: number;
  #shown = 0;
  #tenth = 0;
  #open = false;

  constructor(context: Context, label: string, now: () => number = () => performance.now()) {
    this.#context = context;
    this.#label = label;
    this.#now = now;
    this.#began = now();
  }

  show(step: Step): void {
    const { errColumns, streams } = this.#context;
    const { done, total } = step;
    const isLast = done >= total;
    if (errColumns === undefined) {
      const tenth = Math.floor((done / total) * 10);
      if (tenth === this.#tenth) return;
      this.#tenth = tenth;
      streams.err(`${this.#line(step)}\n`);
      return;
    }
    const now = this.#now();
    // Nobody reads more than ten a second.
    if (!isLast && this.#open && now - this.#shown < 100) return;
    this.#shown = now;
    this.#open = true;
    streams.err(`\r${this.#line(step, bar(done / total)).slice(0, errColumns - 1)}\u001b[K`);
  }

  /** Leaves what was shown last, and goes to the next line. */
  end(): void {
    if (this.#open) this.#context.streams.err("\n");
    this.#open = false;
  }

  #line({ done, total, before = 0, note = "" }: Step, drawn = ""): string {
    const left = timeLeft(this.#now() - this.#began, done - before, total - done);
    return [this.#label, drawn, `${done}/${total}`, note, left].filter((word) => word !== "").join("  ");
  }
}

function bar(share: number): string {
  const full = Math.round(share * BAR);
  return `${"█".repeat(full)}${"░".repeat(BAR - full)}`;
}

/** By the pace so far, in words; nothing while there is none, and when nothing is left. */
export function timeLeft(elapsedMs: number, done: number, left: number): string {
  if (done <= 0 || left <= 0) return "";
  const seconds = Math.ceil((elapsedMs / done / 1_000) * left);
  if (seconds < 60) return `${seconds} s left`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s left`;
  return `${Math.floor(seconds / 3_600)} h ${Math.round((seconds % 3_600) / 60)} min left`;
}

const BAR = 24;
