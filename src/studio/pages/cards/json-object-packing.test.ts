import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryCard } from "../../../cards/message-card/message-card.fixture.ts";
import { packJsonObjects, unpackJsonObjects } from "./json-object-packing.ts";
import { createGsm8kSizedRecording } from "./gsm8k-sized-recording.fixture.ts";

describe("rows that are packed by columns", () => {
  it("are unpacked unchanged, for arbitrary JSON", () => {
    fc.assert(
      fc.property(fc.array(arbitraryCard, { maxLength: 12 }), (cards) => {
        const rows = JSON.parse(JSON.stringify(cards)) as object[];
        expect(unpackJsonObjects(JSON.parse(JSON.stringify(packJsonObjects(rows))))).toEqual(rows);
      }),
    );
  });

  it("keep a member `__proto__`, which changes no prototype", () => {
    const text = `[{"__proto__":{"isAdmin":true},"b":[1,{"__proto__":2}]}]`;
    const [row] = unpackJsonObjects<object>(packJsonObjects(JSON.parse(text) as object[]));
    expect(JSON.stringify([row])).toBe(text);
    expect(row).not.toHaveProperty("isAdmin");
  });

  it("keep the order of their members", () => {
    const rows = [{ b: 1, a: { y: "x", x: [] } }];
    expect(JSON.stringify(unpackJsonObjects(packJsonObjects(rows)))).toBe(JSON.stringify(rows));
  });

  it("take at most a third of the size of the record lines", () => {
    const { cards } = createGsm8kSizedRecording(200);
    expect(JSON.stringify(packJsonObjects(cards)).length * 3).toBeLessThan(JSON.stringify(cards).length);
  });
});
