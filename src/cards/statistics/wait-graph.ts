import type { CardTiming } from "../recording/index.ts";

/** The work of whoever began it all, for which there is no task. */
const ROOT_WORK = Symbol("beginning");
type WorkItem = CardTiming | typeof ROOT_WORK;

/**
 * Who waited for what, in one problem. A role works on a task from its arrival; what it asked others meanwhile came back to
 * that work.
 */
export class WaitGraph {
  readonly #timings: readonly CardTiming[];
  readonly #byId = new Map<string, CardTiming>();
  /** The order of sending, also of what was sent in the same moment. */
  readonly #sendOrder: ReadonlyMap<CardTiming, number>;
  readonly #workByCard = new Map<CardTiming, WorkItem>();
  /** What came back to a work. */
  readonly #arrivalsByWork = new Map<WorkItem, CardTiming[]>();

  constructor(moments: readonly CardTiming[]) {
    this.#timings = moments;
    this.#sendOrder = new Map(moments.map((one, at) => [one, at]));
    for (const one of moments) {
      const id = one.card.metadata.card_id;
      if (id !== undefined) this.#byId.set(id, one);
    }
    for (const one of moments) {
      const asked = this.#findParent(one);
      if (asked?.card.sender !== one.card.recipient) continue;
      const work = this.#getWork(asked);
      const arrived = this.#arrivalsByWork.get(work);
      if (arrived) arrived.push(one);
      else this.#arrivalsByWork.set(work, [one]);
    }
  }

  /** The last reply to a task of whoever began it all. */
  findFinalReply(): CardTiming | undefined {
    const replies = (this.#arrivalsByWork.get(ROOT_WORK) ?? []).filter(
      (one) =>
        (one.card.message_type === "result" || one.card.message_type === "error") &&
        this.#findParent(one)?.card.message_type === "task",
    );
    return findLatestArrival(replies);
  }

  /** What its sender had last before it could begin with a card; `undefined` for the first of all. `moments` are in the order of sending. */
  findPredecessor(sent: CardTiming): CardTiming | undefined {
    const cause = this.#findParent(sent);
    // Who answers a question has waited for nothing else.
    if (cause?.card.recipient === sent.card.sender && cause.card.message_type !== "task") return cause;
    const work = this.#getWork(sent);
    const came = (this.#arrivalsByWork.get(work) ?? []).filter(
      (one) => one.arrivedMs <= sent.sentMs && this.#getSendPosition(one) < this.#getSendPosition(sent),
    );
    return findLatestArrival(came) ?? (work === ROOT_WORK ? undefined : work);
  }

  /** The work in whose course a card was sent. */
  #getWork(sent: CardTiming): WorkItem {
    const known = this.#workByCard.get(sent);
    if (known !== undefined) return known;
    // Cards that reply to each other in a circle end here.
    this.#workByCard.set(sent, ROOT_WORK);
    const work = this.#resolveWork(sent);
    this.#workByCard.set(sent, work);
    return work;
  }

  #resolveWork(sent: CardTiming): WorkItem {
    const { sender } = sent.card;
    const cause = this.#findParent(sent);
    if (cause?.card.recipient === sender) {
      // The answer to a question belongs to the work that was asked about.
      const asked = cause.card.message_type === "task" ? undefined : this.#findParent(cause);
      return asked?.card.sender === sender ? this.#getWork(asked) : cause;
    }
    // It does not say: then it is of the last task that had come to its sender.
    return (
      this.#timings.findLast(
        ({ card, arrivedMs: arrived }) =>
          card.message_type === "task" && card.recipient === sender && arrived <= sent.sentMs,
      ) ?? ROOT_WORK
    );
  }

  #getSendPosition(one: CardTiming): number {
    return this.#sendOrder.get(one) ?? 0;
  }

  #findParent({ card }: CardTiming): CardTiming | undefined {
    return this.#byId.get(card.metadata.in_reply_to ?? "");
  }
}

function findLatestArrival(moments: readonly CardTiming[]): CardTiming | undefined {
  return moments.reduce<CardTiming | undefined>(
    (late, one) => (late !== undefined && late.arrivedMs > one.arrivedMs ? late : one),
    undefined,
  );
}
