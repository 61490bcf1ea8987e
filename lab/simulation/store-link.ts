import type { Chance } from "./chance.ts";
import type { StepOwner, VirtualTime } from "./virtual-time.ts";

/** Faults between the nodes and the database. The plan of a simulation changes them. */
export interface LinkFaults {
  /** Factor of all delays. */
  delayFactor: number;
  /** Probability that a statement fails because its connection breaks, before or after the commit. */
  breakProbability: number;
  /** True while the database accepts no connections. */
  isDatabaseDown: boolean;
  /** Time in milliseconds at which the last statement that is on its way arrives. */
  lastArrivalAt: number;
}

export function createLinkFaults(): LinkFaults {
  return { delayFactor: 1, breakProbability: 0, isDatabaseDown: false, lastArrivalAt: 0 };
}

/** Shortest and mean delay in milliseconds of one direction. */
const MIN_DELAY_MS = 0.2;
const MEAN_DELAY_MS = 1;
/** Delay after which a lost packet of an established connection is sent again. */
const MAX_RETRANSMISSION_MS = 400;

/** Labels of the steps of a statement. */
interface StatementLabels {
  readonly timeout: string;
  readonly arrives: string;
  readonly refused: string;
  readonly breaks: string;
  readonly breaksAfter: string;
  readonly returns: string;
}

/**
 * Connection of one process to the database. A statement arrives after a delay, takes effect at once, and its result
 * arrives after another delay. A statement can take effect although its sender receives an error.
 */
export class StoreLink {
  /** Time in milliseconds until which no packet passes. */
  partitionedUntil = 0;
  /** If true, a partition drops connections. Otherwise, packets arrive after the partition. */
  dropsPackets = false;
  readonly #time: VirtualTime;
  readonly #owner: StepOwner & { readonly name: string };
  readonly #chance: Chance;
  readonly #faults: LinkFaults;
  readonly #timeoutMs: number;
  /** Labels by the name of the statement. A string that exists has its hash. */
  readonly #labels = new Map<string, StatementLabels>();

  constructor(
    time: VirtualTime,
    owner: StepOwner & { readonly name: string },
    chance: Chance,
    faults: LinkFaults,
    timeoutMs: number,
  ) {
    this.#time = time;
    this.#owner = owner;
    this.#chance = chance;
    this.#faults = faults;
    this.#timeoutMs = timeoutMs;
  }

  /** Runs a statement on the database. Rejects with an error like those of `pg`. */
  query<T>(name: string, statement: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const labels = this.#getLabels(name);
      const cancelTimeout = this.#time.schedule(
        labels.timeout,
        this.#timeoutMs,
        () => reject(new Error("Query read timeout")),
        this.#owner,
      );
      const fail = (code: string): void => {
        cancelTimeout();
        reject(Object.assign(new Error(code), { code }));
      };
      const answer = (label: string, settle: () => void): void => this.#transmit(label, settle, this.#owner);
      const isBroken = this.#chance.isTrue(this.#faults.breakProbability);
      const breaksBefore = isBroken && this.#chance.isTrue(0.4);
      // The owner of a statement on its way is the network, so that the statement outlives its process.
      this.#transmit(labels.arrives, () => {
        if (this.#faults.isDatabaseDown) return answer(labels.refused, () => fail("ECONNREFUSED"));
        if (breaksBefore) return answer(labels.breaks, () => fail("ECONNRESET"));
        void Promise.resolve(statement()).then(
          (result) =>
            isBroken
              ? answer(labels.breaksAfter, () => fail("ECONNRESET"))
              : answer(labels.returns, () => {
                  cancelTimeout();
                  resolve(result);
                }),
          (error: unknown) => {
            cancelTimeout();
            reject(error);
          },
        );
      });
    });
  }

  #getLabels(name: string): StatementLabels {
    let labels = this.#labels.get(name);
    if (!labels) {
      const label = `${this.#owner.name} ${name}`;
      labels = {
        timeout: `${label} timeout`,
        arrives: `${label} arrives`,
        refused: `${label} refused`,
        breaks: `${label} breaks`,
        breaksAfter: `${label} breaks after`,
        returns: `${label} returns`,
      };
      this.#labels.set(name, labels);
    }
    return labels;
  }

  #transmit(label: string, arrive: () => void, owner?: StepOwner): void {
    const delayMs =
      (MIN_DELAY_MS - Math.log(1 - this.#chance.between(0, 1)) * MEAN_DELAY_MS) * this.#faults.delayFactor;
    const attempt = (): void => {
      if (this.#time.now >= this.partitionedUntil) arrive();
      else if (!this.dropsPackets) {
        const waitMs =
          this.partitionedUntil - this.#time.now + this.#chance.between(0, MAX_RETRANSMISSION_MS);
        this.#scheduleArrival(label, waitMs, attempt, owner);
      }
    };
    this.#scheduleArrival(label, delayMs, attempt, owner);
  }

  #scheduleArrival(label: string, ms: number, arrive: () => void, owner?: StepOwner): void {
    if (!owner) this.#faults.lastArrivalAt = Math.max(this.#faults.lastArrivalAt, this.#time.now + ms);
    this.#time.schedule(label, ms, arrive, owner);
  }
}
