import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  listImports,
  findNestedEntryPoints,
  readSources,
  SHARED_PACKAGES,
  findViolations,
  type ImportBoundary,
  IMPORT_BOUNDARIES,
} from "./import-boundaries.ts";

const sources = readSources();
const allImports = listImports(sources);
const nestedEntryPoints = findNestedEntryPoints(allImports);

/**
 * Formats a folder's allowed imports as AGENTS.md shows them: `data-structures, engine's types, server from
 * `to-a2a.ts``.
 */
function listAllowedRooms({ rooms }: ImportBoundary): string {
  const names = Object.entries(rooms).map(([room, access]) => {
    if (access === "whole") return room;
    if (access === "types") return `${room}'s types`;
    if ("typesFrom" in access) return `types of \`${access.typesFrom}\``;
    const files = [access.onlyIn].flat().map((file) => `\`${file.slice(file.indexOf("/") + 1)}\``);
    return `${room} from ${files.join(" and ")}`;
  });
  return names.join(", ") || "nothing";
}

/** Packages that the build inlines (`scripts/inline-dependencies.mjs`). */
const INLINED_PACKAGES = ["@noble/hashes", "get-east-asian-width"];
/** Packages that the bundles of the page contain (`scripts/build-page.mjs`). */
const BUNDLED_PACKAGES = IMPORT_BOUNDARIES["pages"]?.packages ?? [];

describe("the import boundaries of src/", () => {
  it("are respected", () => {
    expect(findViolations(allImports, nestedEntryPoints)).toEqual([]);
  });

  it("have an entry for every folder", () => {
    const rooms = new Set(
      [...sources.keys()].filter((file) => file.includes("/")).map((file) => file.split("/")[0]),
    );
    expect([...rooms].filter((room) => !Object.hasOwn(IMPORT_BOUNDARIES, room ?? ""))).toEqual([]);
  });

  it("match the table in AGENTS.md", () => {
    const agents = readFileSync(new URL("../../AGENTS.md", import.meta.url), "utf8");
    const rows = [...agents.matchAll(/^\| `([\w-]+)\/` \|.*\| (.+) \|$/gm)].map(([, room, opens]) => [
      room,
      opens,
    ]);
    const walls = Object.entries(IMPORT_BOUNDARIES).map(([room, wall]) => [
      room,
      room === "cli" ? "everything" : listAllowedRooms(wall),
    ]);
    expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(walls));
  });

  it("assign each external package to one folder, except shared ones", () => {
    const { demo: _, ...rooms } = IMPORT_BOUNDARIES;
    const packages = Object.values(rooms)
      .flatMap((wall) => wall.packages ?? [])
      .filter((name) => !SHARED_PACKAGES.has(name));
    expect(packages).toEqual([...new Set(packages)]);
  });

  it("keep framework packages out of the main entry", () => {
    const imports = allImports.filter(({ isTypeOnly }) => !isTypeOnly);
    const reached = new Set(["entries/colloquy.ts"]);
    for (const file of reached) {
      for (const { from, to } of imports) if (from === file) reached.add(to);
    }
    const ofAdapters = IMPORT_BOUNDARIES["adapters"]?.packages ?? [];
    const left = [...ofAdapters, "get-east-asian-width"];
    expect([...reached].filter((name) => left.includes(name))).toEqual([]);
    expect(imports.some(({ to }) => ofAdapters.includes(to))).toBe(true);
  });

  it("allow only packages that are dependencies or peer dependencies", () => {
    const { dependencies = {}, peerDependencies = {} } = JSON.parse(
      readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
    ) as Record<"dependencies" | "peerDependencies", Record<string, string> | undefined>;
    const outside = allImports.filter(({ to, isInternal }) => !isInternal && !to.startsWith("node:"));
    const declared = new Set([
      ...Object.keys({ ...dependencies, ...peerDependencies }),
      ...INLINED_PACKAGES,
      ...BUNDLED_PACKAGES,
    ]);
    const undeclared = outside.filter(({ to }) => !declared.has(to));
    expect(undeclared.map(({ from, to }) => `${from} uses ${to}`)).toEqual([]);
  });
});

describe("a boundary violation", () => {
  it.each([
    ["protocol/bad.ts", `import { x } from "../wire/index.ts";`, "protocol/bad.ts opens wire"],
    ["client/bad.ts", `import type { Engine } from "../engine/index.ts";`, "client/bad.ts opens engine"],
    ["server/bad.ts", `const cli = await import("../cli/index.ts");`, "server/bad.ts opens cli"],
    [
      "stores/bad.ts",
      `import { x } from "../engine/index.ts";`,
      "stores/bad.ts opens more of engine than its types",
    ],
    [
      "stores/bad.ts",
      `export { type X } from "../engine/index.ts";`,
      "stores/bad.ts opens more of engine than its types",
    ],
    [
      "server/bad.ts",
      `export * from "../stores/index.ts";`,
      "server/bad.ts opens stores, which only server/resolve-store.ts and server/durable-object/create-durable-object-server.ts and server/node/resolve-node-store.ts may",
    ],
    [
      "adk/bad.ts",
      `import { createServer } from "../server/index.ts";`,
      "adk/bad.ts opens server, which only adk/to-a2a.ts may",
    ],
    ["adk/bad.ts", `type A = import("../adapters/index.ts").A;`, "adk/bad.ts opens adapters"],
    [
      "wire/bad.ts",
      `import { fold } from "../protocol/fold.ts";`,
      "wire/bad.ts enters protocol/fold.ts, which is no door",
    ],
    [
      "demo/bad.ts",
      `import { seededRandom } from "../cards/statistics/random.ts";`,
      "demo/bad.ts enters cards/statistics/random.ts, which is no door",
    ],
    ["server/bad.ts", `import "../entries/colloquy.ts";`, "server/bad.ts opens entries"],
    ["server/bad.ts", `import { Command } from "commander";`, "server/bad.ts uses the package commander"],
    ["engine/bad.ts", `import { readFileSync } from "node:fs";`, "engine/bad.ts uses node:fs"],
    [
      "client/bad.ts",
      `import type { x } from "../index.ts";`,
      "client/bad.ts imports index.ts, which is in no room",
    ],
    [
      "cellar/bad.ts",
      `import "../protocol/index.ts";`,
      "cellar/bad.ts: the room cellar has no row in the table of walls",
    ],
    ["wire/bad.ts", `import "./bad.ts";`, "cycle: wire/bad.ts → wire/bad.ts"],
  ])("in %s is found: %s", (file, source, violation) => {
    const imports = listImports(new Map([[file, source]]));
    expect(findViolations([...allImports, ...imports], nestedEntryPoints)).toContain(violation);
  });

  it("is reported for cyclic imports", () => {
    const circle = new Map([
      ["wire/a.ts", `import { b } from "./b.ts";`],
      ["wire/b.ts", `export { c } from "./c.ts";`],
      ["wire/c.ts", `import type { A } from "./a.ts";`],
    ]);
    expect(findViolations(listImports(circle))).toEqual([
      "cycle: wire/a.ts → wire/b.ts → wire/c.ts → wire/a.ts",
    ]);
  });

  it("is not reported for valid imports", () => {
    const sound = new Map([
      ["stores/a.ts", `import type { TaskStore } from "../engine/index.ts";\nimport fs from "node:fs";`],
      ["server/resolve-store.ts", `const { SqliteStore } = await import("../stores/index.ts");`],
      ["cli/models.ts", `const { model } = await import("../adk/models/index.ts");`],
      [
        "wire/a.ts",
        `import type { B } from "./b.ts";\nimport { createParser } from "eventsource-parser/stream";`,
      ],
      ["wire/b.ts", `// import { a } from "./a.ts";`],
      ["adk/models/a.ts", `import { generateText } from "ai";\nimport { openai } from "@ai-sdk/openai";`],
    ]);
    expect(findViolations(listImports(sound), nestedEntryPoints)).toEqual([]);
  });
});
