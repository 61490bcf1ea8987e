import { describe, expect, it } from "vitest";
import { parseWellFormedJson } from "./parse-well-formed-json.ts";

describe("parseWellFormedJson", () => {
  it("replaces unpaired surrogates at any depth, and keeps pairs", () => {
    const text = String.raw`{"id": "a\ud800", "list": ["\uDC00b", "\ud83d\ude00", 1, null]}`;
    expect(parseWellFormedJson(text)).toEqual({ id: "a\ufffd", list: ["\ufffdb", "😀", 1, null] });
  });

  it("accepts JSON of any depth", () => {
    const depth = 20_000;
    const text = String.raw`${"[".repeat(depth)}"\ud800"${"]".repeat(depth)}`;
    let value = parseWellFormedJson(text);
    while (Array.isArray(value)) value = value[0] as unknown;
    expect(value).toBe("\ufffd");
  });

  it("parses other JSON without changes, such as a member with the name __proto__", () => {
    const text = String.raw`{"__proto__": {"text": "\\ud800"}, "seq": 7}`;
    expect(JSON.stringify(parseWellFormedJson(text))).toBe(JSON.stringify(JSON.parse(text)));
  });
});
