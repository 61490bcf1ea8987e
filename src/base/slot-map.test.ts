import * as fc from "fast-check";
import { expect, it } from "vitest";
import { SlotMap } from "./index.ts";

it("a SlotMap is a Map, whatever is done to it", () => {
  const key = fc.constantFrom("a", "b", "c", "d");
  const step = fc.oneof(fc.record({ set: key, to: fc.nat() }), fc.record({ delete: key }));
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const slots = new SlotMap<number>();
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
