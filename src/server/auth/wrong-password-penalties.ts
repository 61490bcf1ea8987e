import { LruCache } from "../../data-structures/index.ts";
import { A2AError } from "../../protocol/index.ts";

/** Number of wrong passwords of an address before the address must wait. */
const FREE_WRONG_PASSWORDS = 5;
const MAX_PENALTY_MS = 60_000;
/** Time in milliseconds after which one wrong password of an address is forgotten. */
const FORGET_AFTER_MS = 60_000;
/** Maximum number of addresses whose wrong passwords are remembered. */
const MAX_ADDRESSES = 10_000;

interface WrongPasswords {
  readonly count: number;
  /** Monotonic time of the last wrong password, in milliseconds. */
  readonly lastAt: number;
}

/**
 * Remembers the wrong passwords of each address. After the fifth wrong password, the address must wait 1 s before the
 * next password, then 2 s, 4 s, and so on up to a minute. The penalty decreases with time.
 */
export class WrongPasswordPenalties {
  readonly #getTime: () => number;
  readonly #byHolder = new LruCache<WrongPasswords>(MAX_ADDRESSES);

  /** `getTime` returns a monotonic time in milliseconds. */
  constructor(getTime: () => number) {
    this.#getTime = getTime;
  }

  /** Returns the number of remembered wrong passwords of an address. */
  countWrongPasswords(holder: string): number {
    const known = this.#byHolder.get(holder);
    if (!known) return 0;
    return Math.max(0, known.count - Math.floor((this.#getTime() - known.lastAt) / FORGET_AFTER_MS));
  }

  addWrongPassword(holder: string): void {
    this.#byHolder.set(holder, { count: this.countWrongPasswords(holder) + 1, lastAt: this.#getTime() });
  }

  assertMayTry(holder: string): void {
    const error = this.findPenaltyError(holder);
    if (error) throw error;
  }

  /** Returns the error for an address that must wait, or `undefined` if the address may send a password. */
  findPenaltyError(holder: string): A2AError | undefined {
    const known = this.#byHolder.get(holder);
    const excess = this.countWrongPasswords(holder) - FREE_WRONG_PASSWORDS;
    if (!known || excess < 0) return undefined;
    const waitMs = known.lastAt + Math.min(1_000 * 2 ** excess, MAX_PENALTY_MS) - this.#getTime();
    if (waitMs <= 0) return undefined;
    const seconds = Math.ceil(waitMs / 1_000);
    const text = `This address has sent too many wrong passwords; try again in ${seconds} s.`;
    return new A2AError("RESOURCE_EXHAUSTED", text, { retryAfter: seconds });
  }
}
