import { Deferred } from "../data-structures/index.ts";
import type { QueuedTurnData, TurnQueueChange } from "./queued-turn-data.ts";

/** A change of a task's queue that waits for the next commit, and the requests that wait for the commit. */
export class PendingQueueChange {
  readonly #added: QueuedTurnData[] = [];
  readonly #durable = new Deferred();
  #removedThrough: number | undefined;

  get change(): TurnQueueChange {
    const removedThrough = this.#removedThrough;
    return { added: this.#added, ...(removedThrough === undefined ? {} : { removedThrough }) };
  }

  /** Ids of the messages of the added turns. */
  get messageIds(): string[] {
    return this.#added.map(({ message }) => message.messageId);
  }

  /** Adds a turn. Resolves when the change is durable. */
  add(queued: QueuedTurnData): Promise<void> {
    this.#added.push(queued);
    return this.#durable.promise;
  }

  removeThrough(position: number): void {
    this.#removedThrough = position;
  }

  resolve(): void {
    this.#durable.resolve();
  }

  reject(error: unknown): void {
    this.#durable.reject(error);
  }
}
