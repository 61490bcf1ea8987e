import * as fc from "fast-check";
import { expect, it } from "vitest";
import { OffHeapTextStore, type OffHeapText } from "./index.ts";

const SEGMENT_BYTES = 64;

/** A text that is shared, or large enough for its own segment. */
const textArbitrary = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 12 })
  .filter((text) => text.isWellFormed());

it("an off-heap text store behaves like a list of texts, and uses at least half of its space", () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ add: textArbitrary }) },
    { weight: 2, arbitrary: fc.record({ deleteAt: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ deleteOldest: fc.integer({ min: 1, max: 30 }) }) },
  );
  fc.assert(
    fc.property(fc.array(step, { size: "+1", maxLength: 400 }), (steps) => {
      const store = new OffHeapTextStore(SEGMENT_BYTES);
      const expected: { stored: OffHeapText; text: string }[] = [];
      for (const one of steps) {
        if ("add" in one) expected.push({ stored: store.add(one.add), text: one.add });
        else {
          const start = "deleteAt" in one && expected.length > 0 ? one.deleteAt % expected.length : 0;
          const count = "deleteAt" in one ? 1 : one.deleteOldest;
          for (const { stored } of expected.splice(start, count)) store.delete(stored);
        }
        const usedBytes = expected.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
        expect(store.usedBytes).toBe(usedBytes);
        expect(store.allocatedBytes).toBeLessThanOrEqual(2 * usedBytes + 3 * SEGMENT_BYTES);
        for (const { stored, text } of expected) expect(store.read(stored)).toBe(text);
      }
      for (const { stored } of expected) store.delete(stored);
      expect(store.usedBytes).toBe(0);
      expect(store.allocatedBytes).toBeLessThanOrEqual(3 * SEGMENT_BYTES);
    }),
  );
});

it("an off-heap text store reuses the same buffers for a queue of texts", () => {
  const store = new OffHeapTextStore(SEGMENT_BYTES);
  const queue: OffHeapText[] = [];
  let allocatedBytes = 0;
  for (let count = 0; count < 10_000; count++) {
    queue.push(store.add("12345678"));
    if (queue.length > 100) store.delete(queue.shift() as OffHeapText);
    if (count === 200) ({ allocatedBytes } = store);
  }
  // 101 texts of 8 bytes fill 13 segments. The oldest and the newest segment are partly empty.
  expect(allocatedBytes).toBeLessThanOrEqual(15 * SEGMENT_BYTES);
  expect(store.allocatedBytes).toBe(allocatedBytes);
});

it("a deleted text cannot be read, and a second deletion has no effect", () => {
  const store = new OffHeapTextStore(SEGMENT_BYTES);
  const [small, large] = [store.add("a"), store.add("b".repeat(SEGMENT_BYTES))];
  for (const text of [small, large, small, large]) store.delete(text);
  expect([store.usedBytes, store.allocatedBytes]).toEqual([0, SEGMENT_BYTES]);
  expect(() => store.read(large)).toThrow("was deleted");
});
