import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { pageBundle } from "../../../scripts/page.ts";
import { recorded } from "../record/record.fixture.ts";
import { htmlOf, liveHtmlOf } from "./index.ts";

describe("the page of a recording", () => {
  it("has the script and the style that are in page/: else run `npm run page`", async () => {
    const bundle = readFileSync(new URL("page-bundle.ts", import.meta.url), "utf8");
    expect(bundle === (await pageBundle())).toBe(true);
  });

  it("allows its own script and style by their hashes, and nothing else", () => {
    const page = htmlOf(recorded());
    const [, policy = ""] = /Content-Security-Policy" content="([^"]+)"/.exec(page) ?? [];
    const hashOf = (pattern: RegExp): string =>
      createHash("sha256")
        .update(pattern.exec(page)?.[1] ?? "")
        .digest("base64");
    expect(policy.split("; ")).toEqual([
      "default-src 'none'",
      `script-src 'sha256-${hashOf(/<script type="module">([^]*?)<\/script>/)}'`,
      `style-src 'sha256-${hashOf(/<style>([^]*?)<\/style>/)}'`,
      "img-src data:",
      "base-uri 'none'",
      "form-action 'none'",
      "require-trusted-types-for 'script'",
    ]);
    expect(page).not.toMatch(/https?:\/\/(?!www\.w3\.org\/2000\/svg)/);
  });

  it("may speak with its server only when it is watched", () => {
    expect(liveHtmlOf("events")).toContain("connect-src 'self'");
  });

  it("is the same of the same recording", () => {
    expect(htmlOf(recorded())).toBe(htmlOf(recorded()));
  });
});
