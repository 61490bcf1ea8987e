import { expect, it } from "vitest";
import { parseModelRetryDelay, parseRetryAfter } from "./parse-retry-after.ts";

it.each([
  [null, undefined],
  [undefined, undefined],
  ["0", 0],
  ["7", 7_000],
  ["0.25", 250],
  ["Thu, 01 Jan 1970 00:00:10 GMT", 9_000],
  ["Thu, 01 Jan 1970 00:00:00 GMT", undefined],
  ["soon", undefined],
])("Retry-After %j means a delay of %j ms", (header, ms) => {
  expect(parseRetryAfter(header, 1_000)).toBe(ms);
});

it.each([
  [{ "retry-after-ms": "120", "retry-after": "7" }, 120],
  [{ "retry-after-ms": "soon", "retry-after": "7" }, 7_000],
  [{}, undefined],
])("a model server with %j requests a delay of %j ms", (headers: Record<string, string>, ms) => {
  expect(parseModelRetryDelay((name) => headers[name], 1_000)).toBe(ms);
});
