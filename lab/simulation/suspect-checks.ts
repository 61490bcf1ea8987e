import type { LogAppend } from "../../src/engine/index.ts";

/** Default of `limits.turnAttempts`. */
const TURN_ATTEMPTS = 5;
const SUSPECT_ATTEMPTS = 2;
/** Time in milliseconds after which a node starts the next group, at least. The clocks of nodes have different rates. */
const MIN_GROUP_RUN_MS = 0.99 * 2500;
/** Number of processes that one turn may kill: those that count, and those of groups that halve. */
const MAX_KILLS = 30;

interface Attempt {
  readonly taskId: string;
  readonly node: string;
  readonly startedAt: number;
  /** True if another suspect turn started on the node at the same time or later, so that a death does not count. */
  isShared: boolean;
}

/** Checks which deaths of nodes count against turns. */
export class SuspectChecks {
  readonly #breakPromise: (text: string) => void;
  readonly #getTime: () => number;
  /** Attempts at each turn, by task and by number of the message. */
  readonly #attempts = new Map<string, Map<number, Attempt>>();
  /** Attempts at the running suspect turn of each task. */
  readonly #suspects = new Map<string, Attempt>();
  readonly #kills = new Map<string, number>();
  /** Suspect turns of the current commit. Turns that end in the same commit no longer run with them. */
  #starting: Attempt[] = [];

  constructor(getTime: () => number, breakPromise: (text: string) => void) {
    this.#getTime = getTime;
    this.#breakPromise = breakPromise;
  }

  recordAppend(node: string, { taskId, turn, hasRunningTurn }: LogAppend): void {
    if (this.#starting.some(({ startedAt }) => startedAt < this.#getTime())) this.#recordStarts();
    if (turn === null || hasRunningTurn === false) this.#suspects.delete(taskId);
    if (!turn) return;
    const key = `${taskId} ${turn.seq}`;
    const attempts = this.#attempts.get(key) ?? new Map<number, Attempt>();
    this.#attempts.set(key, attempts);
    if (attempts.has(turn.attempt)) return;
    const attempt = { taskId, node, startedAt: this.#getTime(), isShared: false };
    attempts.set(turn.attempt, attempt);
    const isSuspect = turn.attempt - 1 - (turn.excusedAttempts ?? 0) >= SUSPECT_ATTEMPTS;
    if (isSuspect) this.#starting.push(attempt);
  }

  #recordStarts(): void {
    const starting = this.#starting;
    this.#starting = [];
    for (const attempt of starting) this.#recordSuspect(attempt);
  }

  #recordSuspect(attempt: Attempt): void {
    for (const other of this.#suspects.values()) {
      if (other.node !== attempt.node || other.taskId === attempt.taskId) continue;
      other.isShared = true;
      if (attempt.startedAt - other.startedAt < MIN_GROUP_RUN_MS) attempt.isShared = true;
    }
    this.#suspects.set(attempt.taskId, attempt);
  }

  /** Checks a task that fails, because its node died in too many attempts at the turn with the last message. */
  checkFailure(taskId: string): void {
    this.#recordStarts();
    const turns = [...this.#attempts].filter(([key]) => key.startsWith(`${taskId} `));
    const counted = [...(turns.at(-1)?.[1].values() ?? [])].filter(({ isShared }) => !isShared);
    if (counted.length < TURN_ATTEMPTS)
      this.#breakPromise(`task ${taskId} fails after ${counted.length} attempts that count`);
  }

  /** Records that the turn of a message has killed its process. */
  recordKill(messageId: string): void {
    const kills = (this.#kills.get(messageId) ?? 0) + 1;
    this.#kills.set(messageId, kills);
    if (kills > MAX_KILLS) this.#breakPromise(`the turn of message ${messageId} kills ${kills} processes`);
  }
}
