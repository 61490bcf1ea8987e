import { OrderedQueue } from "../base/data-structures/index.ts";
import type { StoppedTaskQuery } from "./task-deletion-store.ts";
import { isInterrupted, isTerminal } from "../protocol/index.ts";
import type { MemoryTaskLog } from "./memory-task-log.ts";

/** Limits of the stopped tasks that a memory store keeps. */
export interface StoppedMemoryTaskLimits {
  /** Maximum number of ended tasks. */
  readonly maxFinishedTasks: number;
  /** Maximum total size in bytes of the tasks that have ended or that wait for their user. */
  readonly maxBytes: number;
}

/** The tasks of a memory store that have ended or that wait for their user, in the order in which they stopped. */
export class StoppedMemoryTasks {
  readonly #limits: StoppedMemoryTaskLimits;
  readonly #ended = new OrderedQueue<MemoryTaskLog>();
  readonly #waiting = new OrderedQueue<MemoryTaskLog>();
  #lastStopOrder = 0;
  #totalSize = 0;

  constructor(limits: StoppedMemoryTaskLimits) {
    this.#limits = limits;
  }

  /** Total size of the stopped tasks in bytes. */
  get totalSize(): number {
    return this.#totalSize;
  }

  /** Adds a task whose newest append has stopped the task. `size` is the size of the task in bytes. */
  add(log: MemoryTaskLog, size: number): void {
    log.stopOrder = ++this.#lastStopOrder;
    log.size = size;
    this.#totalSize += size;
    (isTerminal(log.state) ? this.#ended : this.#waiting).push(log.stopOrder, log);
  }

  /** Removes a task that continues or that the store deletes. */
  remove(log: MemoryTaskLog): void {
    if (log.stopOrder === 0) return;
    (isTerminal(log.state) ? this.#ended : this.#waiting).remove(log.stopOrder);
    this.#totalSize -= log.size;
    log.stopOrder = log.size = 0;
  }

  /** Updates the size of a task. */
  resize(log: MemoryTaskLog, size: number): void {
    if (log.stopOrder === 0) return;
    this.#totalSize += size - log.size;
    log.size = size;
  }

  /**
   * Returns the next task to evict, or `undefined` while the limits are observed. Ended tasks are evicted before
   * waiting tasks. A task with queued turns and the task that stopped last are never evicted.
   */
  findTaskToEvict(): MemoryTaskLog | undefined {
    const { maxFinishedTasks, maxBytes } = this.#limits;
    if (this.#ended.size > maxFinishedTasks) return this.#ended.findFirst();
    if (this.#totalSize <= maxBytes) return undefined;
    const isEvictable = (log: MemoryTaskLog): boolean =>
      log.stopOrder < this.#lastStopOrder && log.queuedTurns.length === 0;
    const ended = this.#ended.findFirst();
    if (ended && isEvictable(ended)) return ended;
    for (const waiting of this.#waiting.valuesAfter(0)) if (isEvictable(waiting)) return waiting;
    return undefined;
  }

  /** Returns the matching tasks of a query, oldest first. */
  list({ status, before, after, limit }: StoppedTaskQuery): MemoryTaskLog[] {
    const found: MemoryTaskLog[] = [];
    for (const log of (status === "ended" ? this.#ended : this.#waiting).valuesAfter(after?.key ?? 0)) {
      if (found.length >= limit) break;
      // After the wall clock was set back, a later task can have an earlier status.
      if (log.timestamp < before) found.push(log);
    }
    return found;
  }
}

/** Returns true if only a message can continue the task. At AUTH_REQUIRED, a running agent can continue the task. */
export function isStopped({ state, hasRunningTurn }: MemoryTaskLog): boolean {
  return isTerminal(state) || (isInterrupted(state) && !hasRunningTurn);
}
