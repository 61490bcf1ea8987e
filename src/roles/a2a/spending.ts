import type { CardMetadata, CardUsage } from "../../cards/index.ts";

type Spent = Pick<CardMetadata, "card_id" | "tokens" | "usage" | "model" | "duration_ms">;

/** What nobody has said is 0. */
export const NOTHING: CardUsage = { input_tokens: 0, output_tokens: 0, source: "none" };

const SOURCES = ["none", "estimated", "reported"] as const;

/** The sum of two usages: as trustworthy as the weaker of them. */
export function addUsage(one: CardUsage | undefined, other: CardUsage): CardUsage {
  if (!one) return other;
  const sum: CardUsage = {
    input_tokens: one.input_tokens + other.input_tokens,
    output_tokens: one.output_tokens + other.output_tokens,
    source: SOURCES[Math.min(SOURCES.indexOf(one.source), SOURCES.indexOf(other.source))] ?? "none",
  };
  for (const name of ["cached_input_tokens", "reasoning_output_tokens"] as const) {
    if (one[name] !== undefined || other[name] !== undefined)
      sum[name] = (one[name] ?? 0) + (other[name] ?? 0);
  }
  return sum;
}

/**
 * What a role has spent since its last card left: tokens, and the time in which it did not only wait for others. The next
 * card takes all of it, so that nothing is counted twice and nothing is lost.
 */
export class Spending {
  readonly #monotonic: () => number;
  readonly #newId: () => string;
  #cardId: string;
  #usage: CardUsage | undefined;
  #model: string | undefined;
  #busyMs = 0;
  #thinking = 0;
  #waiting = 0;
  #since: number;

  constructor(monotonic: () => number, newId: () => string) {
    this.#monotonic = monotonic;
    this.#newId = newId;
    this.#cardId = newId();
    this.#since = monotonic();
  }

  /** Of the next card that leaves, so that what is spent can be written down under it before. */
  get cardId(): string {
    return this.#cardId;
  }

  /** Thinks from now on, until what this returns is called. */
  think(): () => void {
    this.#tick();
    this.#thinking++;
    return once(() => {
      this.#tick();
      this.#thinking--;
    });
  }

  /** Waits for somebody from now on, until what this returns is called; that is nobody's work but theirs. */
  wait(): () => void {
    this.#tick();
    this.#waiting++;
    return once(() => {
      this.#tick();
      this.#waiting--;
    });
  }

  add(usage: CardUsage, model: string): void {
    this.#usage = addUsage(this.#usage, usage);
    this.#model = model;
  }

  /** What the card that leaves now is to say, to `write`; when that throws, nothing was taken. */
  take<C>(write: (spent: Spent) => C): C {
    this.#tick();
    const spent: Spent = { card_id: this.#cardId, duration_ms: Math.round(this.#busyMs * 1000) / 1000 };
    if (this.#usage) {
      spent.tokens = this.#usage.input_tokens + this.#usage.output_tokens;
      spent.usage = this.#usage;
    }
    if (this.#model !== undefined) spent.model = this.#model;
    const card = write(spent);
    this.#cardId = this.#newId();
    this.#usage = undefined;
    this.#model = undefined;
    this.#busyMs = 0;
    return card;
  }

  #tick(): void {
    const now = this.#monotonic();
    if (this.#thinking > 0 || this.#waiting === 0) this.#busyMs += now - this.#since;
    this.#since = now;
  }
}

function once(call: () => void): () => void {
  let called = false;
  return () => {
    if (!called) call();
    called = true;
  };
}
