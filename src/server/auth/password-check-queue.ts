import { Quota, LruCache } from "../../base/data-structures/index.ts";
import { A2AError } from "../../protocol/index.ts";
import { getAddressHolderKey } from "../remote-address.ts";

/**
 * Maximum number of password checks that run at once. A check keeps one of the four threads of Node's pool busy for
 * about 0.1 s, and the server also reads files in these threads.
 */
const MAX_RUNNING_CHECKS = 2;
/** Maximum number of checks that run for addresses with wrong passwords, so that another address never waits for them. */
const MAX_RUNNING_SUSPECT_CHECKS = 1;
/** Maximum number of checks that run or wait. One address can have at most half of them. */
const MAX_PENDING_CHECKS = 32;

interface WaitingCheck {
  readonly holder: string;
  readonly start: (isSuspect: boolean) => void;
  readonly refuse: (error: A2AError) => void;
}

/**
 * Runs password checks in a bounded queue that is fair between addresses. Addresses with fewer wrong passwords go first,
 * and one address has at most one running check. Strangers who guess passwords therefore delay neither other users nor
 * the rest of the server.
 */
export class PasswordCheckQueue {
  readonly #penalties: WrongPasswordPenalties;
  readonly #places = new Quota({ capacity: MAX_PENDING_CHECKS });
  /** Results of the checks that run or wait, by address and credentials. */
  readonly #pendingChecks = new Map<string, Promise<boolean>>();
  readonly #runningHolders = new Set<string>();
  #runningSuspectChecks = 0;
  #waiting: WaitingCheck[] = [];

  constructor(penalties: WrongPasswordPenalties) {
    this.#penalties = penalties;
  }

  /**
   * Runs a password check for a remote address, and returns whether the password is correct. Concurrent checks of equal
   * `credentials` from one address share their result. Throws `RESOURCE_EXHAUSTED` if the address has sent too many wrong
   * passwords, or if too many checks wait.
   */
  async check(
    remoteAddress: string | undefined,
    credentials: string,
    verify: () => Promise<boolean>,
  ): Promise<boolean> {
    const holder = getAddressHolderKey(remoteAddress);
    const key = `${holder} ${credentials}`;
    const pending = this.#pendingChecks.get(key);
    if (pending) return await pending;
    const result = this.#waitAndCheck(holder, verify);
    this.#pendingChecks.set(key, result);
    try {
      return await result;
    } finally {
      this.#pendingChecks.delete(key);
    }
  }

  async #waitAndCheck(holder: string, verify: () => Promise<boolean>): Promise<boolean> {
    this.#penalties.assertMayTry(holder);
    this.#reservePlace(holder);
    try {
      const isSuspect = await new Promise<boolean>((start, refuse) => {
        this.#waiting.push({ holder, start, refuse });
        this.#startWaitingChecks();
      });
      return await this.#runCheck(holder, isSuspect, verify);
    } finally {
      this.#places.release(holder, 1);
    }
  }

  async #runCheck(holder: string, isSuspect: boolean, verify: () => Promise<boolean>): Promise<boolean> {
    try {
      const isCorrect = await verify();
      if (!isCorrect) this.#penalties.addWrongPassword(holder);
      return isCorrect;
    } finally {
      this.#runningHolders.delete(holder);
      if (isSuspect) this.#runningSuspectChecks--;
      this.#startWaitingChecks();
    }
  }

  #reservePlace(holder: string): void {
    const refusal = this.#places.findRefusal(holder, 1);
    const displaced = refusal === "capacity" ? this.#takeWaitingCheckOfMoreSuspectHolder(holder) : undefined;
    if (refusal && !displaced) throw createTooManyChecksError();
    displaced?.refuse(createTooManyChecksError());
    // The place of a displaced check becomes free when its promise has rejected.
    this.#places.reserveUnchecked(holder, 1);
  }

  #takeWaitingCheckOfMoreSuspectHolder(holder: string): WaitingCheck | undefined {
    const last = this.#waiting.reduce<WaitingCheck | undefined>(
      (most, check) => (most && this.#countWrong(most) >= this.#countWrong(check) ? most : check),
      undefined,
    );
    if (!last || this.#countWrong(last) <= this.#countWrong({ holder })) return undefined;
    this.#waiting = this.#waiting.filter((check) => check !== last);
    return last;
  }

  #startWaitingChecks(): void {
    while (this.#runningHolders.size < MAX_RUNNING_CHECKS) {
      const next = this.#findNextCheck();
      if (!next) return;
      this.#waiting = this.#waiting.filter((check) => check !== next);
      const penaltyError = this.#penalties.findPenaltyError(next.holder);
      if (penaltyError) next.refuse(penaltyError);
      else {
        this.#runningHolders.add(next.holder);
        const isSuspect = this.#isSuspect(next.holder);
        if (isSuspect) this.#runningSuspectChecks++;
        next.start(isSuspect);
      }
    }
  }

  #findNextCheck(): WaitingCheck | undefined {
    let next: WaitingCheck | undefined;
    for (const check of this.#waiting) {
      if (this.#runningHolders.has(check.holder)) continue;
      if (this.#isSuspect(check.holder) && this.#runningSuspectChecks >= MAX_RUNNING_SUSPECT_CHECKS) continue;
      if (!next || this.#countWrong(check) < this.#countWrong(next)) next = check;
    }
    return next;
  }

  #countWrong({ holder }: Pick<WaitingCheck, "holder">): number {
    return this.#penalties.countWrongPasswords(holder);
  }

  #isSuspect(holder: string): boolean {
    return this.#penalties.countWrongPasswords(holder) > 0;
  }
}

function createTooManyChecksError(): A2AError {
  const text = `The server checks at most ${MAX_PENDING_CHECKS} passwords at a time, and at most half of them for one address; try again in a second.`;
  return new A2AError("RESOURCE_EXHAUSTED", text, { retryAfter: 1 });
}

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
