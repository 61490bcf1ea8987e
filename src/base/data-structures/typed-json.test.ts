import { expect, it } from "vitest";
import { decodeTypedJson, encodeTypedJson } from "./index.ts";

it("typed JSON keeps dates and bytes at every depth, and plain JSON", () => {
  const value = {
    at: new Date(5),
    files: [{ bytes: new Uint8Array([0, 255]) }, null, "text", { $colloquy: "other" }],
  };
  expect(decodeTypedJson(encodeTypedJson(value))).toEqual(value);
  expect(decodeTypedJson(encodeTypedJson(new Uint8Array([1])))).toEqual(new Uint8Array([1]));
});

it("typed JSON omits members that JSON cannot represent", () => {
  expect(decodeTypedJson(encodeTypedJson({ call: () => 1, none: undefined, kept: 1 }))).toEqual({ kept: 1 });
});
