import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createScriptedRecording } from "../../../cards/recording/recording.fixture.ts";
import { renderHtmlReport, renderLiveHtmlReport } from "./html-report.ts";

describe("the page of a recording", () => {
  it("allows its own script and style by their hashes, and no connections", () => {
    const page = renderHtmlReport(createScriptedRecording());
    const [, policy = ""] = /Content-Security-Policy" content="([^"]+)"/.exec(page) ?? [];
    const hashOf = (pattern: RegExp): string =>
      createHash("sha256")
        .update(pattern.exec(page)?.[1] ?? "")
        .digest("base64");
    expect(policy.split("; ")).toEqual([
      "default-src 'none'",
      `script-src 'sha256-${hashOf(/<script type="module">([^]*?)<\/script>/)}'`,
      "worker-src blob:",
      `style-src 'sha256-${hashOf(/<style>([^]*?)<\/style>/)}'`,
      "img-src data: blob:",
      "media-src blob:",
      "frame-src blob:",
      "base-uri 'none'",
      "form-action 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types dompurify page-worker",
    ]);
  });

  it("may connect to its server only if it is live", () => {
    expect(renderLiveHtmlReport("events")).toContain("connect-src 'self'");
  });

  it.each(["light", "dark"])("has a contrast of at least 4.5 to 1 (WCAG) for every text in %s", (theme) => {
    const css = readFileSync(new URL("../style/1-tokens.css", import.meta.url), "utf8");
    const block = (
      theme === "light" ? /^:root \{([^}]+)\}/m : /^:root\[data-theme="dark"\] \{([^}]+)\}/m
    ).exec(css);
    const colors = Object.fromEntries(
      [...(block?.[1] ?? "").matchAll(/--([\w-]+): (#[\da-f]{6});/g)].map(([, name, value]) => [name, value]),
    ) as Record<string, string>;
    const inks = ["ink", "soft", "accent", "good", "warn", "bad", "wait"];
    const grounds = ["paper", "sheet", "sunk", "accent-soft"];
    const low = [...inks.flatMap((ink) => grounds.map((ground) => [ink, ground])), ["warn", "warn-soft"]]
      .map(([ink = "", ground = ""]) => ({
        ink,
        ground,
        ratio: computeContrastRatio(colors[ink] ?? "", colors[ground] ?? ""),
      }))
      .filter(({ ratio }) => !(ratio >= 4.5));
    expect(low).toEqual([]);
  });

  it("is deterministic", () => {
    expect(renderHtmlReport(createScriptedRecording())).toBe(renderHtmlReport(createScriptedRecording()));
  });
});

/** Returns the contrast ratio of WCAG 2.2. */
function computeContrastRatio(first: string, second: string): number {
  const light = (color: string): number => {
    const [r = 0, g = 0, b = 0] = [1, 3, 5]
      .map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [dark = 0, bright = 0] = [light(first), light(second)].toSorted((a, b) => a - b);
  return (bright + 0.05) / (dark + 0.05);
}
