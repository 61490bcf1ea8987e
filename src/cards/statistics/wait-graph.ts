import type { CardTiming } from "../recording/index.ts";

/** Work of the initial requester. The initial requester has no task. */
const ROOT_WORK = Symbol("beginning");
type WorkItem = CardTiming | typeof ROOT_WORK;

/**
 * Graph of the dependencies between the message cards of one problem. The work of a role on a task starts
 * when the task arrives. If a role sends requests during its work on a task, the replies belong to the work.
 */
export class WaitGraph {
  readonly #timings: readonly CardTiming[];
  readonly #byId = new Map<string, CardTiming>();
  /** Position of each message card in the order of sending. Positions are unique even if times are equal. */
  readonly #sendOrder: ReadonlyMap<CardTiming, number>;
  readonly #workByCard = new Map<CardTiming, WorkItem>();
  /** Replies that arrived during the work on each task. */
  readonly #arrivalsByWork = new Map<WorkItem, CardTiming[]>();

  constructor(timings: readonly CardTiming[]) {
    this.#timings = timings;
    this.#sendOrder = new Map(timings.map((one, at) => [one, at]));
    for (const one of timings) {
      const id = one.card.metadata.card_id;
      if (id !== undefined) this.#byId.set(id, one);
    }
    for (const one of timings) {
      const parent = this.#findParent(one);
      if (parent?.card.sender !== one.card.recipient) continue;
      const work = this.#getWork(parent);
      const arrived = this.#arrivalsByWork.get(work);
      if (arrived) arrived.push(one);
      else this.#arrivalsByWork.set(work, [one]);
    }
  }

  /** Returns the last reply to a task of the initial requester. */
  findFinalReply(): CardTiming | undefined {
    const replies = (this.#arrivalsByWork.get(ROOT_WORK) ?? []).filter(
      (one) =>
        (one.card.message_type === "result" || one.card.message_type === "error") &&
        this.#findParent(one)?.card.message_type === "task",
    );
    return findLatestArrival(replies);
  }

  /**
   * Returns the last message card that reached the sender before its work on `sent`, or `undefined` for the
   * first message card. The timings must be sorted by the time of sending.
   */
  findPredecessor(sent: CardTiming): CardTiming | undefined {
    const cause = this.#findParent(sent);
    // A reply to a query waits for the query only.
    if (cause?.card.recipient === sent.card.sender && cause.card.message_type !== "task") return cause;
    const work = this.#getWork(sent);
    const arrivals = (this.#arrivalsByWork.get(work) ?? []).filter(
      (one) => one.arrivedMs <= sent.sentMs && this.#getSendPosition(one) < this.#getSendPosition(sent),
    );
    return findLatestArrival(arrivals) ?? (work === ROOT_WORK ? undefined : work);
  }

  /** Returns the task that a role worked on when it sent the given message card. */
  #getWork(sent: CardTiming): WorkItem {
    const known = this.#workByCard.get(sent);
    if (known !== undefined) return known;
    // This entry ends the recursion for cards that reply to each other in a circle.
    this.#workByCard.set(sent, ROOT_WORK);
    const work = this.#resolveWork(sent);
    this.#workByCard.set(sent, work);
    return work;
  }

  #resolveWork(sent: CardTiming): WorkItem {
    const { sender } = sent.card;
    const cause = this.#findParent(sent);
    if (cause?.card.recipient === sender) {
      // The reply to a query belongs to the work that the query was about.
      const asked = cause.card.message_type === "task" ? undefined : this.#findParent(cause);
      return asked?.card.sender === sender ? this.#getWork(asked) : cause;
    }
    // A card without a cause belongs to the last task that its sender received.
    return (
      this.#timings.findLast(
        ({ card, arrivedMs }) =>
          card.message_type === "task" && card.recipient === sender && arrivedMs <= sent.sentMs,
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

function findLatestArrival(timings: readonly CardTiming[]): CardTiming | undefined {
  return timings.reduce<CardTiming | undefined>(
    (latest, one) => (latest !== undefined && latest.arrivedMs > one.arrivedMs ? latest : one),
    undefined,
  );
}
