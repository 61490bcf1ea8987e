import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { findNonlinearity, findRegExps } from "../../lab/regular-expressions/regular-expression-check.ts";

// `npm run lab -- regular-expressions` checks the expressions of the library in 25 s. These tests show that the check finds slow ones.

const slowPatterns = [
  ["trailing slashes of a URL", "/\\/+$/"],
  ["leading or trailing characters", "/^_+|_+$/g"],
  ["the rest of a line after a marker", "/ Known: (.*)$/"],
  ["two words with spaces between them", "/^(\\S+) +(.*)$/"],
  ["a token with three segments", "/\\beyJ[\\w-]{5,}\\.[\\w-]+\\.[\\w-]*/g"],
  ["nested repetition", "/^(a+)+$/"],
] as const;

describe("the check of regular expressions", () => {
  it.each(slowPatterns)(
    "finds that a pattern for %s takes more than linear time",
    async (_, code) => {
      const [use] = findRegExps(`const pattern = ${code};`);
      expect(await findNonlinearity(use!)).toMatch(/^vulnerable: /);
    },
    120_000,
  );

  it("finds a regular expression that is built from a text", async () => {
    const [use] = findRegExps("RegExp(`${text}+$`)");
    expect(await findNonlinearity(use!)).toContain("built from a text");
  });

  it.each(["scripts/check.ts", ".ci/run"])(
    "runs in %s, so that every regular expression takes linear time [SEC-36]",
    (file) => {
      const checks = readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
      expect(checks).toMatch(
        /^ {2}"regular expressions": .*lab\/regular-expressions\/main\.ts|^for name in .*"regular expressions".*npm run/m,
      );
    },
  );
});
