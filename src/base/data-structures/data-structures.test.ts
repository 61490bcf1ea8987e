import * as fc from "fast-check";
import { expect, it } from "vitest";
import { LruCache, SwapRemoveSet, SlotReuseMap, type SwapRemoveSetItem } from "./index.ts";

it("a SlotMap behaves like a Map for any sequence of operations", () => {
  const key = fc.constantFrom("a", "b", "c", "d");
  const step = fc.oneof(
    fc.record({ set: key, to: fc.nat() }),
    fc.record({ delete: key }),
    fc.constant({ clear: true }),
  );
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const slots = new SlotReuseMap<number>();
      const map = new Map<string, number>();
      for (const at of steps) {
        if ("set" in at) {
          slots.set(at.set, at.to);
          map.set(at.set, at.to);
        } else if ("delete" in at) {
          slots.delete(at.delete);
          map.delete(at.delete);
        } else {
          slots.clear();
          map.clear();
        }
        expect([...slots.values()]).toEqual([...map.values()]);
        expect(slots.size).toBe(map.size);
        for (const name of ["a", "b", "c", "d"]) {
          expect([slots.has(name), slots.get(name)]).toEqual([map.has(name), map.get(name)]);
        }
      }
    }),
  );
});

it("an LRU cache drops the entries that were not used for a generation", () => {
  const cache = new LruCache<number>(4);
  const read = (): unknown[] => ["a", "b", "c", "d", "e"].map((key) => cache.get(key));
  for (const [value, key] of ["a", "b", "c"].entries()) cache.set(key, value);
  expect(cache.get("a")).toBe(0);
  cache.set("d", 3);
  expect(cache.listValues()).toHaveLength(3);
  expect(read()).toEqual([0, undefined, 2, 3, undefined]);
  cache.delete("a");
  cache.set("e", 4);
  expect(cache.get("a")).toBeUndefined();
  expect(cache.get("e")).toBe(4);
});

it("a SwapRemoveSet behaves like an unordered Set for any sequence of operations", () => {
  const step = fc.record({ add: fc.boolean(), which: fc.nat(4) });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const items = Array.from({ length: 5 }, (_, id): SwapRemoveSetItem & { id: number } => ({
        id,
        slot: -1,
      }));
      const swapRemoveSet = new SwapRemoveSet<SwapRemoveSetItem & { id: number }>();
      const set = new Set<number>();
      for (const { add, which } of steps) {
        const item = items[which] as SwapRemoveSetItem & { id: number };
        if (add) swapRemoveSet.add(item);
        else swapRemoveSet.delete(item);
        if (add) set.add(which);
        else set.delete(which);
        expect(swapRemoveSet.size).toBe(set.size);
        expect(new Set(swapRemoveSet.toArray().map(({ id }) => id))).toEqual(set);
      }
    }),
  );
});
