import type { CardMetadata, CardTokenUsage } from "../../cards/index.ts";

type UsageMetadata = Pick<CardMetadata, "card_id" | "tokens" | "usage" | "model" | "duration_ms">;

/** What nobody has said is 0. */
export const NO_USAGE: CardTokenUsage = { input_tokens: 0, output_tokens: 0, source: "none" };

const USAGE_SOURCES = ["none", "estimated", "reported"] as const;

/** The sum of two usages: as trustworthy as the weaker of them. */
export function addUsage(first: CardTokenUsage | undefined, second: CardTokenUsage): CardTokenUsage {
  if (!first) return second;
  const sum: CardTokenUsage = {
    input_tokens: first.input_tokens + second.input_tokens,
    output_tokens: first.output_tokens + second.output_tokens,
    source:
      USAGE_SOURCES[Math.min(USAGE_SOURCES.indexOf(first.source), USAGE_SOURCES.indexOf(second.source))] ??
      "none",
  };
  for (const name of ["cached_input_tokens", "reasoning_output_tokens"] as const) {
    if (first[name] !== undefined || second[name] !== undefined)
      sum[name] = (first[name] ?? 0) + (second[name] ?? 0);
  }
  return sum;
}

/**
 * What a role has spent since its last card left: tokens, and the time in which it did not only wait for others. The next
 * card takes all of it, so that nothing is counted twice and nothing is lost.
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

  /** Of the next card that leaves, so that what is spent can be written down under it before. */
  get nextCardId(): string {
    return this.#nextCardId;
  }

  /** Thinks from now on, until what this returns is called. */
  trackModelCall(): () => void {
    this.#accrueBusyTime();
    this.#activeModelCalls++;
    return once(() => {
      this.#accrueBusyTime();
      this.#activeModelCalls--;
    });
  }

  /** Waits for somebody from now on, until what this returns is called; that is nobody's work but theirs. */
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

  /** What the card that leaves now is to say, to `write`; when that throws, nothing was taken. */
  flushToCard<C>(write: (spent: UsageMetadata) => C): C {
    this.#accrueBusyTime();
    const spent: UsageMetadata = {
      card_id: this.#nextCardId,
      duration_ms: Math.round(this.#busyMs * 1000) / 1000,
    };
    if (this.#usage) {
      spent.tokens = this.#usage.input_tokens + this.#usage.output_tokens;
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
