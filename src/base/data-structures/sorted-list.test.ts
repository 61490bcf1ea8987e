import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SortedList } from "./index.ts";

interface Item {
  readonly position: number;
}

function createList(): SortedList<Item, Item> {
  return new SortedList((a, b) => a.position - b.position);
}

describe("SortedList", () => {
  it("equals a sorted array after any additions and removals", () => {
    const changes = fc.array(fc.integer({ min: -5000, max: 5000 }), { maxLength: 3000, size: "max" });
    fc.assert(
      fc.property(changes, fc.integer({ min: -6000, max: 6000 }), (positions, bound) => {
        const list = createList();
        const items = new Map<number, Item>();
        for (const position of positions) {
          const known = items.get(position);
          if (known) {
            list.remove(known);
            items.delete(position);
          } else {
            items.set(position, { position });
            list.add(items.get(position) as Item);
          }
        }
        const sorted = [...items.keys()].toSorted((a, b) => b - a);
        expect([...list.valuesDescending()].map(({ position }) => position)).toEqual(sorted);
        const before = sorted.filter((position) => position < bound);
        const values = [...list.valuesDescending({ position: bound })];
        expect(values.map(({ position }) => position)).toEqual(before);
        expect(list.countBefore({ position: bound })).toBe(before.length);
        expect(list.size).toBe(sorted.length);
      }),
      { numRuns: 50 },
    );
  });

  it("keeps its order when items are added at the end, at the start, and in the middle of full chunks", () => {
    const list = createList();
    const positions = Array.from({ length: 2000 }, (_, at) => at * 2);
    for (const position of positions) list.add({ position });
    for (const position of positions) list.add({ position: position + 1 });
    for (const position of positions) list.add({ position: -1 - position });
    const values = [...list.valuesDescending()].map(({ position }) => position);
    expect(values).toHaveLength(6000);
    expect(values).toEqual(values.toSorted((a, b) => b - a));
  });

  it("ignores the removal of an unknown item", () => {
    const list = createList();
    list.remove({ position: 1 });
    list.add({ position: 1 });
    list.remove({ position: 1 });
    list.remove({ position: 2 });
    expect(list.size).toBe(1);
  });
});
