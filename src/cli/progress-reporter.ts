import type { CliContext } from "./cli-context.ts";

/** Progress of a long operation, in steps. */
interface ProgressSnapshot {
  readonly done: number;
  readonly total: number;
  /**
   * Number of steps that an earlier process finished. The estimated remaining time ignores the steps of
   * earlier processes.
   */
  readonly doneBefore?: number;
  readonly note?: string;
}

/**
 * Reports progress on stderr. A terminal shows a progress bar, and other outputs receive one line for every
 * 10 %.
 */
export class ProgressReporter {
  readonly #context: CliContext;
  readonly #label: string;
  readonly #now: () => number;
  readonly #startedAt: number;
  #shownAt = 0;
  #lastTenth = 0;
  #isLineOpen = false;

  constructor(context: CliContext, label: string, now: () => number = () => performance.now()) {
    this.#context = context;
    this.#label = label;
    this.#now = now;
    this.#startedAt = now();
  }

  show(step: ProgressSnapshot): void {
    const { stderrColumns, streams } = this.#context;
    const { done, total } = step;
    const isLast = done >= total;
    if (stderrColumns === undefined) {
      const tenth = Math.floor((done / total) * 10);
      if (tenth === this.#lastTenth) return;
      this.#lastTenth = tenth;
      streams.err(`${this.#formatLine(step)}\n`);
      return;
    }
    const now = this.#now();
    // Limits updates to ten per second.
    if (!isLast && this.#isLineOpen && now - this.#shownAt < 100) return;
    this.#shownAt = now;
    this.#isLineOpen = true;
    const line = this.#formatLine(step, renderProgressBar(done / total));
    streams.errReplacingLine(line.slice(0, stderrColumns - 1));
  }

  /** Keeps the last progress line visible and starts a new line. */
  end(): void {
    if (this.#isLineOpen) this.#context.streams.err("\n");
    this.#isLineOpen = false;
  }

  #formatLine({ done, total, doneBefore = 0, note = "" }: ProgressSnapshot, drawn = ""): string {
    const remaining = formatEstimatedTimeLeft(this.#now() - this.#startedAt, done - doneBefore, total - done);
    return [this.#label, drawn, `${done}/${total}`, note, remaining].filter((word) => word !== "").join("  ");
  }
}

function renderProgressBar(share: number): string {
  const full = Math.round(share * PROGRESS_BAR_WIDTH);
  return `${"█".repeat(full)}${"░".repeat(PROGRESS_BAR_WIDTH - full)}`;
}

/**
 * Estimates the remaining time from the average speed of the operation. Returns an empty string before the
 * first finished step and after the last step.
 */
export function formatEstimatedTimeLeft(elapsedMs: number, done: number, remaining: number): string {
  if (done <= 0 || remaining <= 0) return "";
  const seconds = Math.ceil((elapsedMs / done / 1_000) * remaining);
  if (seconds < 60) return `${seconds} s left`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s left`;
  return `${Math.floor(seconds / 3_600)} h ${Math.round((seconds % 3_600) / 60)} min left`;
}

const PROGRESS_BAR_WIDTH = 24;
