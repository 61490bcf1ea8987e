import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { CONSOLE_SCRIPT } from "./console-page-bundle.ts";
import { PAGE_NOTICES, PAGE_STYLE } from "./page-bundle.ts";
import { RECORD_SCRIPT } from "./record-page-bundle.ts";
import { WORKER_SCRIPT } from "./worker-page-bundle.ts";
import { renderServedPage, renderSingleFilePage } from "./index.ts";

const MAX_GZIPPED_SCRIPT_BYTES = 120_000;
/** Names of XML formats, and examples in placeholders and messages. No request goes to them. */
const KNOWN_URLS =
  /^https?:\/\/(?:www\.w3\.org\/|example\.com\b|github\.com\/(?:markedjs\/marked\.|highlightjs\/))/;

describe.each([
  ["console", CONSOLE_SCRIPT],
  ["record", RECORD_SCRIPT],
  ["worker", WORKER_SCRIPT],
])("the %s script", (_, script) => {
  it("stays within its limit", () => {
    expect(gzipSync(script, { level: 9 }).length).toBeLessThanOrEqual(MAX_GZIPPED_SCRIPT_BYTES);
  });

  it("names no other server, and evaluates no text", () => {
    const urls = script.match(/https?:\/\/[\w.-]+[^"'`\s\\]*/g) ?? [];
    expect(urls.filter((url) => !KNOWN_URLS.test(url))).toEqual([]);
    expect(script).not.toMatch(/\beval\(|new Function\(|\bFunction\(["'`]|importScripts|import\(/);
  });

  it("can be part of an HTML file", () => {
    expect(script).not.toMatch(/<\/script|<!--|<script/i);
  });
});

describe("the pages", () => {
  it("contain the notices of the bundled packages", () => {
    for (const name of [
      "preact",
      "@preact/signals",
      "@tanstack/virtual-core",
      "@dagrejs/dagre",
      "highlight.js",
      "marked",
      "dompurify",
    ])
      expect(PAGE_NOTICES).toContain(`${name} `);
    expect(PAGE_NOTICES).toContain("Permission is hereby granted");
    expect(renderServedPage("test").html).toContain(PAGE_NOTICES);
    expect(renderSingleFilePage({ mode: "record", name: "r", version: "", lines: [] }, "r")).toContain(
      PAGE_NOTICES,
    );
  });

  it("load no style from another server", () => {
    expect(PAGE_STYLE).not.toMatch(/@import|url\(/);
  });

  it("escape a hostile title and hostile lines", () => {
    const hostile = `</title></script><script>alert(1)</script>`;
    const html = renderSingleFilePage({ mode: "record", name: hostile, version: "", lines: [] }, hostile);
    expect(html.match(/<script/g)).toHaveLength(3);
    expect(html.match(/<\/title>/g)).toHaveLength(1);
  });
});
