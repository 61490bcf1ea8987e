import { describe, expect, it } from "vitest";
import {
  collectInstallSets,
  collectPackagesOfManifest,
  collectPackagesOfPage,
} from "./collect-install-sets.ts";

describe("the packages that a page names", () => {
  it("come from install commands, imports, and requirements", () => {
    const page = [
      "To use it, run `npm install pg`. Run `npm install --prefix examples/x` and `npm install`.",
      "`MCPToolset` requires the package `@modelcontextprotocol/sdk`.",
      "```sh",
      "npm install colloquy @opentelemetry/api@1.9 \\",
      "  @opentelemetry/resources ../colloquy/x.tgz && node x.js",
      "```",
      "```ts",
      'import { generateText } from "ai";',
      'import { createServer } from "colloquy/adk";',
      'import { after } from "next/server";',
      'import { readFile } from "node:fs/promises";',
      "```",
    ].join("\n");
    expect(collectPackagesOfPage("page.md", page)).toEqual([
      "@modelcontextprotocol/sdk",
      "@opentelemetry/api@1.9",
      "@opentelemetry/resources",
      "ai",
      "next",
      "pg",
    ]);
  });

  it("come from a manifest with their ranges", () => {
    const manifest = { dependencies: { colloquy: "file:../..", ai: "^7" }, devDependencies: { vite: "^8" } };
    expect(collectPackagesOfManifest(manifest)).toEqual(["ai@^7", "vite@^8"]);
  });

  it("form one set for equal pages, and one set with ADK", () => {
    const sets = collectInstallSets(
      new Map([
        ["a.md", ["pg"]],
        ["b.md", ["pg"]],
        ["adk.md", ["@google/adk", "pg"]],
      ]),
    );
    expect(sets).toEqual([
      { packages: ["pg"], sources: ["a.md", "b.md"] },
      { packages: ["@google/adk", "pg"], sources: ["a.md with ADK", "b.md with ADK", "adk.md"] },
    ]);
  });
});
