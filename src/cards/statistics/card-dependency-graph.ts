import type { CardTransitTimes } from "../recording/index.ts";

/** Key for the work of the initial requester, which works without a task. */
const INITIAL_REQUESTER_WORK = Symbol("beginning");
type TaskOrInitialWork = CardTransitTimes | typeof INITIAL_REQUESTER_WORK;

/**
 * Graph of the dependencies between the message cards of one problem. The work of a role on a task starts
 * when the task arrives. If a role sends requests while it works on a task, the replies belong to that work.
 */
export class CardDependencyGraph {
  readonly #timings: readonly CardTransitTimes[];
  readonly #byId = new Map<string, CardTransitTimes>();
  /**
   * Position of each message card when the cards are sorted by sending time. Positions are unique even if
   * times are equal.
   */
  readonly #sendOrder: ReadonlyMap<CardTransitTimes, number>;
  readonly #workByCard = new Map<CardTransitTimes, TaskOrInitialWork>();
  /** For each task, the replies that arrived while a role worked on the task. */
  readonly #arrivalsByWork = new Map<TaskOrInitialWork, CardTransitTimes[]>();

  constructor(timings: readonly CardTransitTimes[]) {
    this.#timings = timings;
    this.#sendOrder = new Map(timings.map((one, at) => [one, at]));
    for (const one of timings) {
      const id = one.card.metadata.card_id;
      if (id !== undefined) this.#byId.set(id, one);
    }
    for (const one of timings) {
      const parent = this.#findRepliedToCard(one);
      if (parent?.card.sender !== one.card.recipient) continue;
      const work = this.#getSenderTask(parent);
      const arrived = this.#arrivalsByWork.get(work);
      if (arrived) arrived.push(one);
      else this.#arrivalsByWork.set(work, [one]);
    }
  }

  /** Returns the last reply to a task that the initial requester sent. */
  findLastReplyToInitialRequester(): CardTransitTimes | undefined {
    const replies = (this.#arrivalsByWork.get(INITIAL_REQUESTER_WORK) ?? []).filter(
      (one) =>
        (one.card.message_type === "result" || one.card.message_type === "error") &&
        this.#findRepliedToCard(one)?.card.message_type === "task",
    );
    return findLatestArrivingCard(replies);
  }

  /**
   * Returns the last message card that the sender received before it worked on `sent`, or `undefined` for the
   * first message card. The timings must be sorted by sending time.
   */
  findLastArrivalBeforeWork(sent: CardTransitTimes): CardTransitTimes | undefined {
    const cause = this.#findRepliedToCard(sent);
    // A reply to a query waits for the query only.
    if (cause?.card.recipient === sent.card.sender && cause.card.message_type !== "task") return cause;
    const work = this.#getSenderTask(sent);
    const arrivals = (this.#arrivalsByWork.get(work) ?? []).filter(
      (one) =>
        one.arrivedMs <= sent.sentMs &&
        this.#getPositionInSendOrder(one) < this.#getPositionInSendOrder(sent),
    );
    return findLatestArrivingCard(arrivals) ?? (work === INITIAL_REQUESTER_WORK ? undefined : work);
  }

  /** Returns the task that a role worked on when it sent the given message card. */
  #getSenderTask(sent: CardTransitTimes): TaskOrInitialWork {
    const known = this.#workByCard.get(sent);
    if (known !== undefined) return known;
    // This entry ends the recursion for cards that reply to each other in a circle.
    this.#workByCard.set(sent, INITIAL_REQUESTER_WORK);
    const work = this.#computeSenderTask(sent);
    this.#workByCard.set(sent, work);
    return work;
  }

  #computeSenderTask(sent: CardTransitTimes): TaskOrInitialWork {
    const { sender } = sent.card;
    const cause = this.#findRepliedToCard(sent);
    if (cause?.card.recipient === sender) {
      // The reply to a query belongs to the work that the query was about.
      const asked = cause.card.message_type === "task" ? undefined : this.#findRepliedToCard(cause);
      return asked?.card.sender === sender ? this.#getSenderTask(asked) : cause;
    }
    // A card without a cause belongs to the last task that its sender received.
    return (
      this.#timings.findLast(
        ({ card, arrivedMs }) =>
          card.message_type === "task" && card.recipient === sender && arrivedMs <= sent.sentMs,
      ) ?? INITIAL_REQUESTER_WORK
    );
  }

  #getPositionInSendOrder(one: CardTransitTimes): number {
    return this.#sendOrder.get(one) ?? 0;
  }

  #findRepliedToCard({ card }: CardTransitTimes): CardTransitTimes | undefined {
    return this.#byId.get(card.metadata.in_reply_to ?? "");
  }
}

function findLatestArrivingCard(timings: readonly CardTransitTimes[]): CardTransitTimes | undefined {
  return timings.reduce<CardTransitTimes | undefined>(
    (latest, one) => (latest !== undefined && latest.arrivedMs > one.arrivedMs ? latest : one),
    undefined,
  );
}
