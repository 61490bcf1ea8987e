import * as fc from "fast-check";
import { expect, it } from "vitest";
import { OrderedQueue } from "./index.ts";

it("an ordered queue yields the inserted items in the order of their numbers, for any changes", () => {
  const number = fc.nat(200);
  const change = fc.record({ kind: fc.constantFrom("insert", "insert", "remove"), number });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 600, size: "max" }), number, (changes, after) => {
      const queue = new OrderedQueue<string>();
      const expected = new Map<number, string>();
      for (const [at, { kind, number: changed }] of changes.entries()) {
        if (kind === "insert") {
          queue.insert(changed, `item ${at}`);
          expected.set(changed, `item ${at}`);
        } else {
          queue.remove(changed);
          expected.delete(changed);
        }
      }
      const sorted = [...expected].toSorted(([a], [b]) => a - b);
      const later = sorted.filter(([known]) => known > after);
      expect([...queue.valuesAfter(after)]).toEqual(later.map(([, item]) => item));
      expect(queue.findFirst()).toBe(sorted[0]?.[1]);
      expect(queue.size).toBe(expected.size);
    }),
  );
});
