import { expect, it } from "vitest";
import { formatJson } from "./json-text.ts";

it("describes a value that is nested too deeply to be formatted", () => {
  expect(formatJson({ a: [1] })).toBe(`{"a":[1]}`);
  expect(formatJson(undefined)).toBe("");
  const depth = 100_000;
  expect(formatJson(JSON.parse("[".repeat(depth) + "]".repeat(depth)))).toBe(
    "(The value is nested too deeply.)",
  );
});
