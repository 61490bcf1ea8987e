import type { CardMetadata, CardTokenUsage } from "../../cards/index.ts";
import { addUsage, sumTokens } from "../token-usage.ts";

type UsageMetadata = Pick<CardMetadata, "card_id" | "tokens" | "usage" | "model" | "duration_ms">;

/**
 * Tracks the tokens and the working time of a role since its last card. Time in which the role only waits for
 * other roles is excluded. The next card reports the total, so nothing is counted twice or lost.
 */
export class UsageTracker {
  readonly #monotonicNow: () => number;
  readonly #newId: () => string;
  #nextCardId: string;
  #usage: CardTokenUsage | undefined;
  #model: string | undefined;
  #busyMs = 0;
  #activeModelCalls = 0;
  #activeWaits = 0;
  #lastTickAt: number;

  constructor(monotonic: () => number, newId: () => string) {
    this.#monotonicNow = monotonic;
    this.#newId = newId;
    this.#nextCardId = newId();
    this.#lastTickAt = monotonic();
  }

  /** Id of the next card. Model calls are recorded with this id before the card is sent. */
  get nextCardId(): string {
    return this.#nextCardId;
  }

  /** Starts a model call. Call the returned function when it ends. */
  trackModelCall(): () => void {
    this.#accrueBusyTime();
    this.#activeModelCalls++;
    return once(() => {
      this.#accrueBusyTime();
      this.#activeModelCalls--;
    });
  }

  /**
   * Starts a wait for another role. Call the returned function when it ends. The waiting time counts as work
   * of the other role.
   */
  trackWait(): () => void {
    this.#accrueBusyTime();
    this.#activeWaits++;
    return once(() => {
      this.#accrueBusyTime();
      this.#activeWaits--;
    });
  }

  addModelUsage(usage: CardTokenUsage, model: string): void {
    this.#usage = addUsage(this.#usage, usage);
    this.#model = model;
  }

  /**
   * Passes the usage to `write`, which creates the card, and resets the tracker. When `write` throws, nothing
   * is reset.
   */
  flushToCard<C>(write: (spent: UsageMetadata) => C): C {
    this.#accrueBusyTime();
    const spent: UsageMetadata = {
      card_id: this.#nextCardId,
      duration_ms: Math.round(this.#busyMs * 1000) / 1000,
    };
    if (this.#usage) {
      spent.tokens = sumTokens(this.#usage);
      spent.usage = this.#usage;
    }
    if (this.#model !== undefined) spent.model = this.#model;
    const card = write(spent);
    this.#nextCardId = this.#newId();
    this.#usage = undefined;
    this.#model = undefined;
    this.#busyMs = 0;
    return card;
  }

  #accrueBusyTime(): void {
    const now = this.#monotonicNow();
    if (this.#activeModelCalls > 0 || this.#activeWaits === 0) this.#busyMs += now - this.#lastTickAt;
    this.#lastTickAt = now;
  }
}

function once(call: () => void): () => void {
  let called = false;
  return () => {
    if (!called) call();
    called = true;
  };
}
