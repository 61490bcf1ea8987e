import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryCard } from "../message-card/message-card.fixture.ts";
import { packRows, unpackRows } from "./row-packing.ts";
import { createFullSizeRecording } from "./full-size-recording.fixture.ts";

describe("rows that are packed by columns", () => {
  it("are unpacked unchanged, for arbitrary JSON", () => {
    fc.assert(
      fc.property(fc.array(arbitraryCard, { maxLength: 12 }), (cards) => {
        const rows = JSON.parse(JSON.stringify(cards)) as object[];
        expect(unpackRows(JSON.parse(JSON.stringify(packRows(rows))))).toEqual(rows);
      }),
    );
  });

  it("keep the order of their members", () => {
    const rows = [{ b: 1, a: { y: "x", x: [] } }];
    expect(JSON.stringify(unpackRows(packRows(rows)))).toBe(JSON.stringify(rows));
  });

  it("take at most a third of the size of the record lines", () => {
    const { cards } = createFullSizeRecording(200);
    expect(JSON.stringify(packRows(cards)).length * 3).toBeLessThan(JSON.stringify(cards).length);
  });
});
