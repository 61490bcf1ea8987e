import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { FairTurnQueue } from "./fair-turn-queue.ts";

describe("FairTurnQueue", () => {
  it("starts few items at once, and the others in later turns, in which holders alternate", async () => {
    const queue = new FairTurnQueue(2);
    const started: string[] = [];
    const start = (holder: string, count: number): void => {
      for (let at = 1; at <= count; at++) queue.start(holder, () => started.push(`${holder}${at}`));
    };
    start("a", 5);
    start("b", 2);
    expect(started).toEqual(["a1", "a2"]);
    await setImmediate();
    expect(started).toEqual(["a1", "a2", "a3", "b1"]);
    await setImmediate();
    expect(started.slice(4)).toEqual(["a4", "b2"]);
    await setImmediate();
    expect(started.slice(6)).toEqual(["a5"]);
  });

  it("starts an item at once again after the queue was empty", async () => {
    const queue = new FairTurnQueue(1);
    const started: number[] = [];
    for (const at of [1, 2, 3]) {
      queue.start("a", () => started.push(at));
      expect(started).toHaveLength(at);
      await setImmediate();
      await setImmediate();
    }
  });

  it("starts items that an item starts", async () => {
    const queue = new FairTurnQueue(1);
    const started: number[] = [];
    queue.start("a", () => {
      started.push(1);
      queue.start("a", () => started.push(2));
    });
    expect(started).toEqual([1]);
    await setImmediate();
    expect(started).toEqual([1, 2]);
  });
});
