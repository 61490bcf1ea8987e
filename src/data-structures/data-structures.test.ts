import * as fc from "fast-check";
import { expect, it } from "vitest";
import { SwapRemoveSet, SlotReuseMap, type SwapRemoveSetItem } from "./index.ts";

it("a SlotMap behaves like a Map for any sequence of operations", () => {
  const key = fc.constantFrom("a", "b", "c", "d");
  const step = fc.oneof(fc.record({ set: key, to: fc.nat() }), fc.record({ delete: key }));
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const slots = new SlotReuseMap<number>();
      const map = new Map<string, number>();
      for (const at of steps) {
        if ("set" in at) {
          slots.set(at.set, at.to);
          map.set(at.set, at.to);
        } else {
          slots.delete(at.delete);
          map.delete(at.delete);
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

it("a Bag behaves like an unordered Set for any sequence of operations", () => {
  const step = fc.record({ add: fc.boolean(), which: fc.nat(4) });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const items = Array.from({ length: 5 }, (_, id): SwapRemoveSetItem & { id: number } => ({
        id,
        slot: -1,
      }));
      const bag = new SwapRemoveSet<SwapRemoveSetItem & { id: number }>();
      const set = new Set<number>();
      for (const { add, which } of steps) {
        const item = items[which] as SwapRemoveSetItem & { id: number };
        if (add) bag.add(item);
        else bag.delete(item);
        if (add) set.add(which);
        else set.delete(which);
        expect(bag.size).toBe(set.size);
        expect(new Set(bag.toArray().map(({ id }) => id))).toEqual(set);
      }
    }),
  );
});
