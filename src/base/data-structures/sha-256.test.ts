import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { computeSha256Hex } from "./index.ts";

it("a digest equals the digest of node:crypto, for texts of every length", () => {
  const digest = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");
  for (let length = 0; length < 200; length++)
    expect(computeSha256Hex("x".repeat(length))).toBe(digest("x".repeat(length)));
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), (text) => {
      expect(computeSha256Hex(text)).toBe(digest(text));
    }),
  );
});
