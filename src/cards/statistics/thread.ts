import type { Moments } from "../record/index.ts";

/** The work of whoever began it all, for which there is no task. */
const BEGINNING = Symbol("beginning");
type Work = Moments | typeof BEGINNING;

/**
 * Who waited for what, in one problem. A role works on a task from its arrival; what it asked others meanwhile came back to
 * that work.
 */
export class Thread {
  readonly #moments: readonly Moments[];
  readonly #byId = new Map<string, Moments>();
  /** The order of sending, also of what was sent in the same moment. */
  readonly #order: ReadonlyMap<Moments, number>;
  readonly #works = new Map<Moments, Work>();
  /** What came back to a work. */
  readonly #arrivals = new Map<Work, Moments[]>();

  constructor(moments: readonly Moments[]) {
    this.#moments = moments;
    this.#order = new Map(moments.map((one, at) => [one, at]));
    for (const one of moments) {
      const id = one.card.metadata.card_id;
      if (id !== undefined) this.#byId.set(id, one);
    }
    for (const one of moments) {
      const asked = this.#causeOf(one);
      if (asked?.card.sender !== one.card.recipient) continue;
      const work = this.#workOf(asked);
      const arrived = this.#arrivals.get(work);
      if (arrived) arrived.push(one);
      else this.#arrivals.set(work, [one]);
    }
  }

  /** The last reply to a task of whoever began it all. */
  last(): Moments | undefined {
    const replies = (this.#arrivals.get(BEGINNING) ?? []).filter(
      (one) =>
        (one.card.message_type === "result" || one.card.message_type === "error") &&
        this.#causeOf(one)?.card.message_type === "task",
    );
    return latest(replies);
  }

  /** What its sender had last before it could begin with a card; `undefined` for the first of all. `moments` are in the order of sending. */
  before(sent: Moments): Moments | undefined {
    const cause = this.#causeOf(sent);
    // Who answers a question has waited for nothing else.
    if (cause?.card.recipient === sent.card.sender && cause.card.message_type !== "task") return cause;
    const work = this.#workOf(sent);
    const came = (this.#arrivals.get(work) ?? []).filter(
      (one) => one.arrived <= sent.sent && this.#placeOf(one) < this.#placeOf(sent),
    );
    return latest(came) ?? (work === BEGINNING ? undefined : work);
  }

  /** The work in whose course a card was sent. */
  #workOf(sent: Moments): Work {
    const known = this.#works.get(sent);
    if (known !== undefined) return known;
    // Cards that reply to each other in a circle end here.
    this.#works.set(sent, BEGINNING);
    const work = this.#findWork(sent);
    this.#works.set(sent, work);
    return work;
  }

  #findWork(sent: Moments): Work {
    const { sender } = sent.card;
    const cause = this.#causeOf(sent);
    if (cause?.card.recipient === sender) {
      // The answer to a question belongs to the work that was asked about.
      const asked = cause.card.message_type === "task" ? undefined : this.#causeOf(cause);
      return asked?.card.sender === sender ? this.#workOf(asked) : cause;
    }
    // It does not say: then it is of the last task that had come to its sender.
    return (
      this.#moments.findLast(
        ({ card, arrived }) =>
          card.message_type === "task" && card.recipient === sender && arrived <= sent.sent,
      ) ?? BEGINNING
    );
  }

  #placeOf(one: Moments): number {
    return this.#order.get(one) ?? 0;
  }

  #causeOf({ card }: Moments): Moments | undefined {
    return this.#byId.get(card.metadata.in_reply_to ?? "");
  }
}

function latest(moments: readonly Moments[]): Moments | undefined {
  return moments.reduce<Moments | undefined>(
    (late, one) => (late !== undefined && late.arrived > one.arrived ? late : one),
    undefined,
  );
}
