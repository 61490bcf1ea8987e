import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCard } from "../card/cards.fixture.ts";
import { pack, unpack } from "./pack.ts";
import { wholeRun } from "./whole-run.fixture.ts";

describe("rows that are packed by columns", () => {
  it("are the same when they are unpacked, whatever JSON they are", () => {
    fc.assert(
      fc.property(fc.array(anyCard, { maxLength: 12 }), (cards) => {
        const rows = JSON.parse(JSON.stringify(cards)) as object[];
        expect(unpack(JSON.parse(JSON.stringify(pack(rows))))).toEqual(rows);
      }),
    );
  });

  it("keep the order of their members", () => {
    const rows = [{ b: 1, a: { y: "x", x: [] } }];
    expect(JSON.stringify(unpack(pack(rows)))).toBe(JSON.stringify(rows));
  });

  it("take a third of the room of the lines of a run, or less", () => {
    const { cards } = wholeRun(200);
    expect(JSON.stringify(pack(cards)).length * 3).toBeLessThan(JSON.stringify(cards).length);
  });
});
