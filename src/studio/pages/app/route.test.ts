import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatRoute, parseRoute, SCREEN_NAMES } from "./route.ts";

describe("the URL of a screen", () => {
  it("keeps every id and every parameter", () => {
    const text = fc.string({ minLength: 1, unit: "grapheme" });
    const params = fc.dictionary(fc.string({ minLength: 1, unit: "grapheme-ascii" }), text);
    fc.assert(
      fc.property(fc.constantFrom(...SCREEN_NAMES), fc.array(text), params, (screen, segments, params) => {
        const parsed = parseRoute(formatRoute(screen, segments, params));
        expect(parsed.screen).toBe(screen);
        expect(parsed.segments).toEqual(segments);
        expect(Object.entries(parsed.params)).toEqual(Object.entries(params));
      }),
    );
  });

  it("is the first screen for any other fragment", () => {
    expect(parseRoute("#/unknown/1", "chat")).toEqual({ screen: "chat", segments: [], params: {} });
    expect(parseRoute("", "tasks").screen).toBe("tasks");
    expect(parseRoute("#/task/%E0%A4%A").segments).toEqual(["%E0%A4%A"]);
  });
});
