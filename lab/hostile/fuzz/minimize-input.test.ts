import { expect, it } from "vitest";
import { minimizeText } from "./minimize-input.ts";

it("a minimized text is the shortest part that still fails", async () => {
  const text = `${"a".repeat(100)}bad${"c".repeat(200)}`;
  expect(await minimizeText(text, async (shorter) => shorter.includes("bad"))).toBe("bad");
});

it("a text that fails only as a whole stays as it is", async () => {
  expect(await minimizeText("abcdef", async () => false)).toBe("abcdef");
});
