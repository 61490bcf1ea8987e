import { Quota } from "../base/data-structures/index.ts";
import { systemClock, type Clock } from "../engine/index.ts";

/** Options for `FairScheduler`. */
export interface FairSchedulerOptions {
  /** Maximum number of running items. An owner uses at most as many slots as remain free. */
  readonly maxConcurrent: number;
  /** Maximum number of running items per key. Default: no maximum. */
  readonly maxPerKey?: number;
  /** Returns for how many milliseconds items of an owner must not start. Default: 0. */
  readonly findOwnerDelay?: (owner: string) => number;
  /** Returns for how many milliseconds items of a key must not start. Default: 0. */
  readonly findKeyDelay?: (key: string) => number;
  readonly clock?: Clock;
  /** Called when a delay has ended, so that `takeNextItem` may return another item. */
  readonly onDelayEnd?: () => void;
}

/** The waiting items of one owner. */
interface OwnerQueue<T> {
  readonly owner: string;
  readonly itemsByKey: Map<string, T[]>;
  /** Keys with waiting items that may be able to start. Other keys with waiting items are blocked. */
  readonly eligibleKeys: string[];
  /** Eligible keys that were blocked. Their other owners stay blocked until this owner has tried to start. */
  readonly unblockedKeys: Set<string>;
  /** True while the owner is in the list of eligible owners. */
  isEligible: boolean;
}

/** Minimum delay in milliseconds, so that a blocked key does not wake the scheduler for each single token. */
const MIN_DELAY_MS = 20;

/**
 * Schedules items, and limits the number of concurrent items. Each item has an owner and a key. Owners take turns, and
 * within an owner, keys take turns. Each owner has a fair share of the slots (`Quota`), so that a single owner
 * cannot delay other owners. If the keys are host names, a slow host also cannot delay other hosts.
 */
export class FairScheduler<T> {
  readonly #options: FairSchedulerOptions;
  readonly #slots: Quota;
  readonly #slotsOfKeys: Quota;
  readonly #queues = new Map<string, OwnerQueue<T>>();
  #eligibleOwners: OwnerQueue<T>[] = [];
  /** Owners that use up their share of the slots. */
  readonly #ownersWithoutShare = new Set<OwnerQueue<T>>();
  /** Owners whose items wait for a slot or for the delay of a key, by key. */
  readonly #ownersByBlockedKey = new Map<string, Set<OwnerQueue<T>>>();
  /** Functions that cancel the timers of delays. */
  readonly #delayedOwners = new Map<string, () => void>();
  readonly #delayedKeys = new Map<string, () => void>();
  #areDelaysCanceled = false;

  constructor(options: FairSchedulerOptions) {
    this.#options = options;
    this.#slots = new Quota({ capacity: options.maxConcurrent });
    this.#slotsOfKeys = new Quota({ capacity: Infinity, maxPerHolder: options.maxPerKey ?? Infinity });
  }

  /** Appends an item to the queue of its owner and key. */
  enqueue(owner: string, key: string, item: T): void {
    let queue = this.#queues.get(owner);
    if (!queue) {
      queue = { owner, itemsByKey: new Map(), eligibleKeys: [], unblockedKeys: new Set(), isEligible: false };
      this.#queues.set(owner, queue);
    }
    const items = queue.itemsByKey.get(key);
    if (items) {
      items.push(item);
      return;
    }
    queue.itemsByKey.set(key, [item]);
    this.#markKeyEligible(queue, key);
  }

  /**
   * Returns the next item that may start, or `undefined` if no item may start. The item occupies a slot of its owner and
   * of its key until `release` is called.
   */
  takeNextItem(): T | undefined {
    if (this.#slots.reserved >= this.#options.maxConcurrent) return undefined;
    for (let queue = this.#eligibleOwners.shift(); queue; queue = this.#eligibleOwners.shift()) {
      queue.isEligible = false;
      const mayStart = this.#mayOwnerStart(queue);
      const item = mayStart ? this.#takeItemOfOwner(queue) : undefined;
      if (item !== undefined) return item;
      if (!mayStart) this.#unblockKeysForOthers(queue);
    }
    return undefined;
  }

  /** Releases one slot of an owner and a key, so that another item can start. */
  release(owner: string, key: string): void {
    this.#slots.release(owner, 1);
    this.#slotsOfKeys.release(key, 1);
    this.#unblockKey(key);
    for (const queue of this.#ownersWithoutShare) this.#markOwnerEligible(queue);
    this.#ownersWithoutShare.clear();
  }

  /** Ends all delays. Later items start without delays. */
  cancelDelays(): void {
    this.#areDelaysCanceled = true;
    for (const cancel of [...this.#delayedOwners.values(), ...this.#delayedKeys.values()]) cancel();
    for (const owner of this.#delayedOwners.keys()) this.#endOwnerDelay(owner);
    for (const key of this.#delayedKeys.keys()) this.#endKeyDelay(key);
  }

  #mayOwnerStart(queue: OwnerQueue<T>): boolean {
    const { owner } = queue;
    if (this.#hasUsedUpShare(owner)) {
      this.#ownersWithoutShare.add(queue);
      return false;
    }
    if (this.#delayedOwners.has(owner)) return false;
    const delayMs = this.#options.findOwnerDelay?.(owner) ?? 0;
    if (delayMs <= 0 || this.#areDelaysCanceled) return true;
    this.#startDelay(this.#delayedOwners, owner, delayMs, () => this.#endOwnerDelay(owner));
    return false;
  }

  #hasUsedUpShare(owner: string): boolean {
    return this.#slots.findRefusal(owner, 1) !== undefined;
  }

  #takeItemOfOwner(queue: OwnerQueue<T>): T | undefined {
    for (let key = queue.eligibleKeys.shift(); key !== undefined; key = queue.eligibleKeys.shift()) {
      queue.unblockedKeys.delete(key);
      const items = queue.itemsByKey.get(key);
      if (!items || !this.#mayKeyStart(queue, key)) continue;
      const item = items.shift();
      if (items.length === 0) queue.itemsByKey.delete(key);
      else queue.eligibleKeys.push(key);
      if (queue.itemsByKey.size === 0) this.#queues.delete(queue.owner);
      else if (queue.eligibleKeys.length > 0) this.#markOwnerEligible(queue);
      this.#slots.reserveUnchecked(queue.owner, 1);
      this.#slotsOfKeys.reserveUnchecked(key, 1);
      this.#unblockKey(key);
      return item;
    }
    return undefined;
  }

  #mayKeyStart(queue: OwnerQueue<T>, key: string): boolean {
    const isAtLimit = this.#slotsOfKeys.findRefusal(key, 1) !== undefined;
    if (!isAtLimit && !this.#delayedKeys.has(key)) {
      const delayMs = this.#options.findKeyDelay?.(key) ?? 0;
      if (delayMs <= 0 || this.#areDelaysCanceled) return true;
      this.#startDelay(this.#delayedKeys, key, delayMs, () => this.#endKeyDelay(key));
    }
    const blocked = this.#ownersByBlockedKey.get(key);
    if (blocked) blocked.add(queue);
    else this.#ownersByBlockedKey.set(key, new Set([queue]));
    return false;
  }

  #startDelay(delays: Map<string, () => void>, name: string, delayMs: number, end: () => void): void {
    const { clock = systemClock, onDelayEnd } = this.#options;
    const cancel = clock.schedule(Math.max(MIN_DELAY_MS, delayMs), () => {
      end();
      onDelayEnd?.();
    });
    delays.set(name, cancel);
  }

  #endOwnerDelay(owner: string): void {
    this.#delayedOwners.delete(owner);
    const queue = this.#queues.get(owner);
    if (queue && queue.eligibleKeys.length > 0) this.#markOwnerEligible(queue);
  }

  #endKeyDelay(key: string): void {
    this.#delayedKeys.delete(key);
    this.#unblockKey(key);
  }

  /**
   * Unblocks a key for one owner. If the owner starts an item of the key, or must not start, the next owner follows.
   * Otherwise, each item would cost as much as many owners wait for the same key.
   */
  #unblockKey(key: string): void {
    const blocked = this.#ownersByBlockedKey.get(key);
    const [queue] = blocked ?? [];
    if (!blocked || !queue || this.#slotsOfKeys.findRefusal(key, 1) !== undefined) return;
    blocked.delete(queue);
    if (blocked.size === 0) this.#ownersByBlockedKey.delete(key);
    queue.unblockedKeys.add(key);
    this.#markKeyEligible(queue, key);
  }

  #unblockKeysForOthers({ unblockedKeys }: OwnerQueue<T>): void {
    for (const key of unblockedKeys) {
      unblockedKeys.delete(key);
      this.#unblockKey(key);
    }
  }

  #markKeyEligible(queue: OwnerQueue<T>, key: string): void {
    queue.eligibleKeys.push(key);
    this.#markOwnerEligible(queue);
  }

  #markOwnerEligible(queue: OwnerQueue<T>): void {
    if (queue.isEligible) return;
    queue.isEligible = true;
    this.#eligibleOwners.push(queue);
  }
}
