import { describe, expect, it } from "vitest";
import { generateUuidV7 } from "./index.ts";

describe("a new id", () => {
  it("is a version 7 UUID that contains its time", () => {
    const before = Date.now();
    const id = generateUuidV7();
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const time = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
    expect(time).toBeGreaterThanOrEqual(before);
    expect(time).toBeLessThanOrEqual(Date.now());
  });

  it("differs from every other id in every random position", () => {
    const ids = Array.from({ length: 20_000 }, () => generateUuidV7());
    expect(new Set(ids).size).toBe(ids.length);
    for (let at = 15; at < 36; at++) {
      const digits = new Set(ids.map((id) => id[at]));
      expect(digits.size).toBe(at === 18 || at === 23 ? 1 : at === 19 ? 4 : 16);
    }
  });
});
