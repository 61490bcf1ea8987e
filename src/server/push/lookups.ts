import { Deferred } from "../../base/index.ts";
import { systemClock, type Clock } from "../../engine/index.ts";

/** All addresses of a host name; rejects when there are none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

export interface LookupsOptions {
  readonly resolve: Resolve;
  readonly clock?: Clock;
  /** Names that are looked up at once. Default 2. */
  readonly atOnce?: number;
  /** Names that wait, or are looked up; past it one is refused. Default 1,000. */
  readonly most?: number;
  /** How long who asks waits, in milliseconds. Default 5,000. */
  readonly timeoutMs?: number;
}

/** A name that is looked up, or waits for that. */
interface Wanted {
  readonly hostname: string;
  readonly found: Deferred<readonly string[]>;
  /** When nobody waits for it any more. */
  until: number;
}

/**
 * Looks names up, a few at once. The system's resolver takes one of the process's four threads (libuv) for as long as a
 * name server keeps silent, and files need them, too; so a place is free again when the answer is there, not when nobody
 * waits for it any more. A name is never looked up twice at once: one that hangs takes one place.
 */
export class Lookups {
  readonly #resolve: Resolve;
  readonly #clock: Clock;
  readonly #atOnce: number;
  readonly #most: number;
  readonly #timeoutMs: number;
  readonly #byName = new Map<string, Wanted>();
  readonly #waiting: Wanted[] = [];
  #underWay = 0;

  constructor({ resolve, clock = systemClock, atOnce = 2, most = 1000, timeoutMs = 5000 }: LookupsOptions) {
    this.#resolve = resolve;
    this.#clock = clock;
    this.#atOnce = atOnce;
    this.#most = most;
    this.#timeoutMs = timeoutMs;
  }

  /** All addresses of a name; rejects when there are none, or none in time. */
  readonly resolve: Resolve = (hostname) => {
    let wanted = this.#byName.get(hostname);
    if (!wanted) {
      if (this.#byName.size >= this.#most) return Promise.reject(new Error("too many names are looked up"));
      wanted = { hostname, found: new Deferred(), until: 0 };
      this.#byName.set(hostname, wanted);
      this.#waiting.push(wanted);
    }
    wanted.until = this.#clock.monotonic() + this.#timeoutMs;
    const answer = this.#inTime(wanted);
    this.#next();
    return answer;
  };

  #inTime({ hostname, found }: Wanted): Promise<readonly string[]> {
    return new Promise((resolve, reject) => {
      const late = (): void => reject(new Error(`${hostname} was not resolved in ${this.#timeoutMs} ms`));
      const cancel = this.#clock.after(this.#timeoutMs, late);
      found.promise.then(resolve, reject).finally(cancel);
    });
  }

  #next(): void {
    while (this.#underWay < this.#atOnce) {
      const wanted = this.#waiting.shift();
      if (!wanted) return;
      if (wanted.until > this.#clock.monotonic()) void this.#lookUp(wanted);
      else this.#byName.delete(wanted.hostname);
    }
  }

  async #lookUp({ hostname, found }: Wanted): Promise<void> {
    this.#underWay++;
    try {
      found.resolve(await this.#resolve(hostname));
    } catch (error) {
      found.reject(error);
    }
    this.#underWay--;
    this.#byName.delete(hostname);
    this.#next();
  }
}
