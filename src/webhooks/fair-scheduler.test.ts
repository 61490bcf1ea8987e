import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TokenBuckets } from "../base/data-structures/index.ts";
import { FakeClock } from "../engine/engine.fixture.ts";
import { FairScheduler } from "./fair-scheduler.ts";

interface TestItem {
  readonly owner: string;
  readonly key: string;
  readonly number: number;
}

/** Takes items until none may start. */
function takeAll<T>(scheduler: FairScheduler<T>): T[] {
  const taken: T[] = [];
  for (let item = scheduler.takeNextItem(); item !== undefined; item = scheduler.takeNextItem())
    taken.push(item);
  return taken;
}

describe("FairScheduler", () => {
  it("alternates between owners, then between keys, and keeps the order within a key", () => {
    const scheduler = new FairScheduler<string>({ maxConcurrent: 20 });
    for (const item of ["A a1", "A a2", "A b1", "A c1", "B a3", "B a4"])
      scheduler.enqueue(item.slice(0, 1), item.slice(2, 3), item);
    expect(takeAll(scheduler)).toEqual(["A a1", "B a3", "A b1", "B a4", "A c1", "A a2"]);
  });

  it("an owner uses at most the slots that remain free, so that a new owner starts at once", () => {
    const scheduler = new FairScheduler<string>({ maxConcurrent: 8 });
    for (let at = 0; at < 100; at++) scheduler.enqueue("greedy", `host-${at}`, `greedy-${at}`);
    expect(takeAll(scheduler)).toHaveLength(4);
    scheduler.enqueue("newcomer", "host", "newcomer");
    expect(takeAll(scheduler)).toEqual(["newcomer"]);
    scheduler.release("greedy", "host-0");
    expect(takeAll(scheduler)).toHaveLength(0);
    scheduler.release("newcomer", "host");
    expect(takeAll(scheduler)).toEqual(["greedy-4"]);
  });

  it("a key that must wait blocks no other key, and its owners take turns after the delay", () => {
    const clock = new FakeClock();
    const rates = new TokenBuckets({ ratePerSecond: 10, burst: 1 });
    const scheduler: FairScheduler<TestItem> = new FairScheduler({
      maxConcurrent: 100,
      clock,
      findKeyDelay: (key) => (key === "slow" ? rates.findDelay(key, clock.monotonic()) : 0),
    });
    const started: string[] = [];
    const startAll = (): void => {
      for (let item = scheduler.takeNextItem(); item; item = scheduler.takeNextItem()) {
        started.push(`${item.owner}-${item.key}`);
        rates.takeToken(item.key, clock.monotonic());
        scheduler.release(item.owner, item.key);
      }
    };
    for (const owner of ["A", "A", "A", "B"])
      scheduler.enqueue(owner, "slow", { owner, key: "slow", number: 0 });
    scheduler.enqueue("A", "fast", { owner: "A", key: "fast", number: 0 });
    startAll();
    expect(started).toEqual(["A-slow", "A-fast"]);
    for (let round = 0; round < 3; round++) {
      clock.advance(100);
      startAll();
    }
    expect(started.slice(2).toSorted()).toEqual(["A-slow", "A-slow", "B-slow"]);
    expect(started.indexOf("B-slow")).toBeLessThan(4);
    expect(clock.pendingTimerCount).toBe(0);
  });

  it("starts delayed items at once after cancelDelays", () => {
    const clock = new FakeClock();
    const scheduler = new FairScheduler<string>({
      maxConcurrent: 10,
      clock,
      findOwnerDelay: (owner) => (owner === "A" ? 1e9 : 0),
      findKeyDelay: () => 1e9,
    });
    scheduler.enqueue("A", "a", "first");
    scheduler.enqueue("B", "b", "second");
    expect(takeAll(scheduler)).toEqual([]);
    scheduler.cancelDelays();
    expect(takeAll(scheduler).toSorted()).toEqual(["first", "second"]);
    expect(clock.pendingTimerCount).toBe(0);
  });

  it("checks few owners for each item, although many owners wait for the same key [E12]", () => {
    let checkCount = 0;
    const scheduler = new FairScheduler<string>({
      maxConcurrent: 64,
      maxPerKey: 8,
      findOwnerDelay: () => {
        checkCount++;
        return 0;
      },
    });
    const owners = Array.from({ length: 1000 }, (_, at) => `owner-${at}`);
    for (const owner of [...owners, ...owners]) scheduler.enqueue(owner, "host", owner);
    const running = takeAll(scheduler);
    const started = [...running];
    checkCount = 0;
    for (let owner = running.shift(); owner !== undefined; owner = running.shift()) {
      scheduler.release(owner, "host");
      const taken = takeAll(scheduler);
      running.push(...taken);
      started.push(...taken);
    }
    expect(started).toEqual([...owners, ...owners]);
    expect(checkCount).toBeLessThan(4 * started.length);
  });

  it("leaves no slot free for which an item waits", () => {
    const owner = fc.constantFrom("A", "B", "C", "D", "E");
    const key = fc.constantFrom("x", "y", "z");
    const steps = fc.array(fc.oneof(fc.tuple(owner, key), fc.nat(9)), { maxLength: 60 });
    const size = fc.integer({ min: 1, max: 9 });
    fc.assert(
      fc.property(size, fc.integer({ min: 1, max: 3 }), steps, (maxConcurrent, maxPerKey, sequence) => {
        const scheduler = new FairScheduler<TestItem>({ maxConcurrent, maxPerKey });
        const running: TestItem[] = [];
        const waiting: TestItem[] = [];
        const mayStart = (item: TestItem): boolean => {
          const free = maxConcurrent - running.length;
          const ofOwner = running.filter((other) => other.owner === item.owner).length;
          const ofKey = running.filter((other) => other.key === item.key).length;
          return free > 0 && ofKey < maxPerKey && (ofOwner === 0 || ofOwner + 1 <= free - 1);
        };
        for (const [number, step] of sequence.entries()) {
          if (typeof step === "number") {
            const [item] = running.splice(step % Math.max(1, running.length), 1);
            if (item) scheduler.release(item.owner, item.key);
          } else {
            const item = { owner: step[0], key: step[1], number };
            waiting.push(item);
            scheduler.enqueue(item.owner, item.key, item);
          }
          for (const item of takeAll(scheduler)) {
            waiting.splice(waiting.indexOf(item), 1);
            running.push(item);
          }
          expect(waiting.filter(mayStart)).toEqual([]);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("respects all limits, and starts every item in the order of its owner and key", () => {
    const limits = fc.record({
      maxConcurrent: fc.integer({ min: 1, max: 6 }),
      maxPerKey: fc.integer({ min: 1, max: 3 }),
      ratePerSecond: fc.constantFrom(5, 50, Infinity),
    });
    const owner = fc.constantFrom("A", "B", "C");
    const key = fc.constantFrom("x", "y", "z");
    const steps = fc.array(fc.oneof(fc.tuple(owner, key), fc.constant("next" as const), fc.nat(4)), {
      maxLength: 80,
    });
    fc.assert(
      fc.property(limits, steps, ({ maxConcurrent, maxPerKey, ratePerSecond }, sequence) => {
        const clock = new FakeClock();
        const rates = new TokenBuckets({ ratePerSecond, burst: 1 });
        const scheduler = new FairScheduler<TestItem>({
          maxConcurrent,
          maxPerKey,
          clock,
          findOwnerDelay: (name) => rates.findDelay(name, clock.monotonic()),
          findKeyDelay: (name) => rates.findDelay(name, clock.monotonic()),
        });
        const running: TestItem[] = [];
        const enqueued: Record<string, number> = {};
        const started: Record<string, number> = {};
        const countRunning = (test: (item: TestItem) => boolean): number => running.filter(test).length;
        const next = (): boolean => {
          const item = scheduler.takeNextItem();
          if (!item) return false;
          const ofOwner = countRunning((other) => other.owner === item.owner);
          running.push(item);
          expect(item.number).toBe(started[item.owner + item.key] ?? 0);
          started[item.owner + item.key] = item.number + 1;
          expect(running.length).toBeLessThanOrEqual(maxConcurrent);
          expect(countRunning((other) => other.key === item.key)).toBeLessThanOrEqual(maxPerKey);
          if (ofOwner > 0) expect(ofOwner + 1).toBeLessThanOrEqual(maxConcurrent - running.length);
          for (const name of [item.owner, item.key]) {
            expect(rates.findDelay(name, clock.monotonic())).toBe(0);
            rates.takeToken(name, clock.monotonic());
          }
          return true;
        };
        const leave = (at: number): void => {
          const [item] = running.splice(at % Math.max(1, running.length), 1);
          if (item) scheduler.release(item.owner, item.key);
        };
        for (const step of sequence) {
          if (step === "next") next();
          else if (typeof step === "number") leave(step);
          else {
            const [itemOwner, itemKey] = step;
            const number = (enqueued[itemOwner + itemKey] ??= 0);
            enqueued[itemOwner + itemKey] = number + 1;
            scheduler.enqueue(itemOwner, itemKey, { owner: itemOwner, key: itemKey, number });
          }
        }
        for (let round = 0; round < 400; round++) {
          while (next());
          while (running.length > 0) leave(0);
          clock.advance(200);
        }
        expect(started).toEqual(enqueued);
      }),
      { numRuns: 200 },
    );
  });
});
