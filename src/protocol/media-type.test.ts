import { describe, expect, it } from "vitest";
import { acceptsMediaType, matchesMediaType, getMediaType } from "./index.ts";

describe("a media type", () => {
  it.each([
    ["image/png", ["text/plain", "image/png"], true],
    ["image/png", ["image/*"], true],
    ["image/png", ["*/*"], true],
    ["Image/PNG; q=1", ["image/png;level=2"], true],
    ["image/png", ["text/*", "application/json"], false],
    ["image/png", ["image"], false],
    ["imagery/x", ["image/*"], false],
    ["image/png", [], false],
    ["text/markdown", ["text"], true],
    ["application/json", ["data"], true],
    ["application/pdf", ["file"], true],
    ["image/png", ["constructor", "__proto__"], false],
  ])("%s is covered by %j: %s", (type, modes, expected) => {
    expect(matchesMediaType(modes, type)).toBe(expected);
  });

  it("is the part's own, or the default of its kind", () => {
    expect(getMediaType({ text: "a" })).toBe("text/plain");
    expect(getMediaType({ text: "a", mediaType: "text/html" })).toBe("text/html");
    expect(getMediaType({ data: null })).toBe("application/json");
    expect(getMediaType({ raw: "" })).toBeUndefined();
    expect(getMediaType({ url: "https://a.example/x.png" })).toBeUndefined();
  });

  it("is accepted by requests that list it and by requests without a list [F-12]", () => {
    expect(acceptsMediaType({}, "image/png")).toBe(true);
    expect(acceptsMediaType({ acceptedOutputModes: [] }, "image/png")).toBe(true);
    expect(acceptsMediaType({ acceptedOutputModes: ["text/plain"] }, "image/png")).toBe(false);
  });
});
