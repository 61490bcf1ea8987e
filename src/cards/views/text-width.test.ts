import { expect, it } from "vitest";
import { fitToColumns, measureColumns, truncateToColumns, wrapText } from "./text-width.ts";

// These characters form one grapheme with the next character. The first is visible, and the second is not.
it.each(["\u{11f02}", "\u0600"])(
  "a character that joins the next one, %j, has the same width with it",
  (character) => {
    const width = measureColumns(character);
    for (const next of [" ", "x", "민", "│", `${character}x`])
      expect(measureColumns(character + next)).toBe(width + measureColumns(next));
    expect(measureColumns(fitToColumns(character, 6))).toBe(6);
    expect(measureColumns(truncateToColumns(`${character}${character}long`, 4))).toBeLessThanOrEqual(4);
    for (const line of wrapText(`a${character} long text`, 4))
      expect(measureColumns(line)).toBeLessThanOrEqual(4);
  },
);

it("counts East Asian characters and emoji as two columns, and marks as none", () => {
  expect(["ab", "민수", "👩‍👩‍👧", "e\u0301", "\u200b"].map(measureColumns)).toEqual([2, 4, 2, 1, 0]);
});

it("gives a skin tone without a person the same columns after any text", () => {
  for (const before of ["", " ", "│ ", "a", "민"])
    expect(measureColumns(`${before}🏻`)).toBe(measureColumns(before) + 2);
  expect(measureColumns("👍🏻")).toBe(2);
});
