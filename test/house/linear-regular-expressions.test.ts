import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

it.each(["scripts/check.ts", ".ci/run"])(
  "the check of regular expressions runs in %s, so that every regular expression takes linear time [SEC-36]",
  (file) => {
    const checks = readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
    expect(checks).toMatch(
      /^ {2}"regular expressions": .*lab\/regular-expressions\/main\.ts|^for name in .*"regular expressions".*npm run/m,
    );
  },
);
