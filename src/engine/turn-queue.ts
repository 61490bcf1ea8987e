import { toQueuedTurnData, type QueuedTurnData } from "./queued-turn-data.ts";
import type { Turn } from "./turn.ts";

interface QueuedTurn {
  readonly data: QueuedTurnData;
  /** Undefined until the turn of an earlier server process is needed. */
  turn: Turn | undefined;
}

/** The turns of one task that wait for the current turn, in order. The store keeps a copy of each turn. */
export class TurnQueue {
  readonly #restoreTurn: (data: QueuedTurnData) => Turn;
  readonly #entries: QueuedTurn[];
  #lastPosition: number;

  /** `stored` contains the turns that the store has for the task. */
  constructor(stored: readonly QueuedTurnData[], restoreTurn: (data: QueuedTurnData) => Turn) {
    this.#restoreTurn = restoreTurn;
    this.#entries = stored.map((data) => ({ data, turn: undefined }));
    this.#lastPosition = stored.at(-1)?.position ?? 0;
  }

  get length(): number {
    return this.#entries.length;
  }

  get messageIds(): string[] {
    return this.#entries.map(({ data }) => data.message.messageId);
  }

  /** Position of the last turn that was added, or 0 if the queue was never used. */
  get lastPosition(): number {
    return this.#lastPosition;
  }

  /** Adds a turn at the end of the queue and returns the data to store. */
  add(turn: Turn): QueuedTurnData {
    const data = toQueuedTurnData(turn, ++this.#lastPosition);
    this.#entries.push({ data, turn });
    return data;
  }

  /** Removes the first turn and returns it with its position. */
  takeFirst(): { readonly turn: Turn; readonly position: number } | undefined {
    const first = this.#entries.shift();
    return first && { turn: first.turn ?? this.#restoreTurn(first.data), position: first.data.position };
  }

  /** Returns the queued turn of a message. */
  findTurn(messageId: string): Turn | undefined {
    const entry = this.#entries.find(({ data }) => data.message.messageId === messageId);
    return entry && (entry.turn ??= this.#restoreTurn(entry.data));
  }

  /** Rejects the requests that wait for queued turns. The queue keeps its turns. */
  rejectRequests(error: unknown): void {
    for (const { turn } of this.#entries) turn?.endWithError(error);
  }

  /** Empties the queue in memory and rejects the requests that wait for queued turns. */
  clear(error: unknown): void {
    this.rejectRequests(error);
    this.#entries.length = 0;
  }
}
