import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryCharacter } from "../../../../test/support/arbitrary-character.ts";
import { measureLabel, truncateLabel } from "./truncate-label.ts";

describe("a label of a diagram", () => {
  it("ends with an ellipsis if the text is too long, and counts East Asian characters twice", () => {
    expect(truncateLabel("short", 10)).toBe("short");
    expect(truncateLabel("a longer text", 8)).toBe("a longe…");
    expect(truncateLabel("민수는 사과", 8)).toBe("민수는…");
    expect(truncateLabel("line\none\u202e", 20)).toBe("line one\ufffd");
  });

  it("stacks at most three marks on a character, so that no label covers other rows", () => {
    expect(truncateLabel(`Z${"\u0316".repeat(60)}a\u0308\u0301`, 20)).toBe(
      "Z\u0316\u0316\u0316a\u0308\u0301",
    );
  });

  it("fits into its columns, and consists of whole code points", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: arbitraryCharacter }),
        fc.integer({ min: 2, max: 40 }),
        (text, columns) => {
          const label = truncateLabel(text, columns);
          expect(measureLabel(label)).toBeLessThanOrEqual(columns + 1);
          expect(label.isWellFormed()).toBe(true);
        },
      ),
    );
  });
});
