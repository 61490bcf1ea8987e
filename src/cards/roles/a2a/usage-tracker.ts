import type { CardMetadata, CardTokenUsage, FailedTry } from "../../index.ts";
import { addUsage, sumInputAndOutputTokens } from "../token-usage.ts";

/** Metadata of a card about the work since the last card. */
export type CardUsageMetadata = Pick<
  CardMetadata,
  "card_id" | "tokens" | "usage" | "model" | "duration_ms" | "failed_tries"
>;

/** Maximum number of failed tries that one message card lists. */
const MAX_FAILED_TRIES_PER_CARD = 100;

/**
 * Tracks the token usage, the failed tries, and the working time of a role since the role's last message card. The
 * working time excludes the time that the role waits for other roles. The role's next message card reports the totals,
 * so that no usage is lost or counted twice.
 */
export class UsageTracker {
  readonly #monotonicNow: () => number;
  readonly #newId: () => string;
  #nextCardId: string;
  #usage: CardTokenUsage | undefined;
  #model: string | undefined;
  #failedTries: FailedTry[] = [];
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

  /**
   * Id of the message card that the role sends next. Model calls are recorded with this card id before the
   * role sends the message card.
   */
  get nextCardId(): string {
    return this.#nextCardId;
  }

  /** Records the start of a model call and returns a function that records its end, to call once. */
  startModelCallTimer(): () => void {
    this.#accrueBusyTime();
    this.#activeModelCalls++;
    return () => {
      this.#accrueBusyTime();
      this.#activeModelCalls--;
    };
  }

  /**
   * Records the start of a wait for another role and returns a function that records its end, to call once. The waiting
   * time counts as working time of the other role.
   */
  startRoleWaitTimer(): () => void {
    this.#accrueBusyTime();
    this.#activeWaits++;
    return () => {
      this.#accrueBusyTime();
      this.#activeWaits--;
    };
  }

  addModelUsage(usage: CardTokenUsage, model: string): void {
    this.#usage = addUsage(this.#usage, usage);
    this.#model = model;
  }

  /** Adds a model call of an earlier attempt, whose tokens the next card reports with the id of that attempt. */
  addStoredCall(call: {
    readonly usage?: CardTokenUsage;
    readonly model: string;
    readonly failedTries: readonly FailedTry[];
    readonly cardId: string;
  }): void {
    this.#nextCardId = call.cardId;
    if (call.usage) this.addModelUsage(call.usage, call.model);
    for (const failedTry of call.failedTries) this.addFailedTry(failedTry);
  }

  addFailedTry(failedTry: FailedTry): void {
    if (this.#failedTries.length < MAX_FAILED_TRIES_PER_CARD) this.#failedTries.push(failedTry);
  }

  /**
   * Passes the token usage to `write`, which creates the message card, and then resets the tracker. If
   * `write` throws, the tracker is not reset.
   */
  flushToCard<C>(write: (spent: CardUsageMetadata) => C): C {
    this.#accrueBusyTime();
    const spent: CardUsageMetadata = {
      card_id: this.#nextCardId,
      duration_ms: Math.round(this.#busyMs * 1000) / 1000,
    };
    if (this.#usage) {
      spent.tokens = sumInputAndOutputTokens(this.#usage);
      spent.usage = this.#usage;
    }
    if (this.#model !== undefined) spent.model = this.#model;
    if (this.#failedTries.length > 0) spent.failed_tries = this.#failedTries;
    const card = write(spent);
    this.#failedTries = [];
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
