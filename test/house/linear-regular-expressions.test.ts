import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

describe("the check of regular expressions", () => {
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
