import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  getPart,
  getRoom,
  listImports,
  findNestedEntryPoints,
  readSources,
  SHARED_PACKAGES,
  findViolations,
  IMPORT_BOUNDARIES,
} from "./import-boundaries.ts";

const sources = readSources();
const allImports = listImports(sources);
const nestedEntryPoints = findNestedEntryPoints(allImports);

/** The rooms in the order of the table, each with the boundaries of its parts. */
const rooms = Map.groupBy(Object.entries(IMPORT_BOUNDARIES), ([part]) => getRoom(part));

/** Formats a room's allowed imports as AGENTS.md shows them: `protocol, engine's types, server`. */
function listAllowedRooms(room: string): string {
  const accesses = (rooms.get(room) ?? []).flatMap(([, { parts }]) => Object.entries(parts));
  const names = [...rooms.keys()].flatMap((other) => {
    const kinds = accesses.filter(([part]) => getRoom(part) === other).map(([, access]) => access);
    if (other === room || kinds.length === 0) return [];
    return kinds.includes("whole") ? other : `${other}'s types`;
  });
  return names.join(", ") || "nothing";
}

/** Packages that the build inlines (`scripts/build.mjs`). */
const INLINED_PACKAGES = [
  "@noble/hashes",
  "canonicalize",
  "commander",
  "eventsource-parser",
  "get-east-asian-width",
  "js-yaml",
];
/** Packages that the bundles of the page contain (`scripts/build-page.mjs`). */
const BUNDLED_PACKAGES = IMPORT_BOUNDARIES["studio/pages"]?.packages ?? [];

describe("the import boundaries of src/", () => {
  it("are respected", () => {
    expect(findViolations(allImports, nestedEntryPoints)).toEqual([]);
  });

  it("have an entry for every file", () => {
    const files = [...sources.keys()].filter((file) => file.includes("/"));
    expect(files.filter((file) => getPart(file) === undefined)).toEqual([]);
  });

  it("divide the sources into at most 16 rooms", () => {
    expect(rooms.size).toBeLessThanOrEqual(16);
  });

  it("match the table in AGENTS.md", () => {
    const agents = readFileSync(new URL("../../AGENTS.md", import.meta.url), "utf8");
    const rows = [...agents.matchAll(/^\| `([\w-]+)\/` \|.*\| (.+) \|$/gm)].map(([, room, opens]) => [
      room,
      opens,
    ]);
    const walls = [...rooms.keys()].map((room) => [
      room,
      room === "cli" ? "everything" : listAllowedRooms(room),
    ]);
    expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(walls));
  });

  it("assign each external package to one room, except shared ones", () => {
    const { "studio/demo": _, ...parts } = IMPORT_BOUNDARIES;
    const uses = Object.entries(parts).flatMap(([part, { packages = [] }]) =>
      packages.map((name) => ({ name, room: getRoom(part) })),
    );
    const users = Map.groupBy(uses, ({ name }) => name);
    const shared = [...users].filter(([, found]) => new Set(found.map(({ room }) => room)).size > 1);
    expect(new Set(shared.map(([name]) => name))).toEqual(SHARED_PACKAGES);
  });

  it("keep framework packages out of the main entry", () => {
    const imports = allImports.filter(({ isTypeOnly }) => !isTypeOnly);
    const reached = new Set(["entries/colloquy.ts"]);
    for (const file of reached) {
      for (const { from, to } of imports) if (from === file) reached.add(to);
    }
    const ofAdapters = IMPORT_BOUNDARIES["agents/adapters"]?.packages ?? [];
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
      "agents/adk/bad.ts",
      `type A = import("../adapters/index.ts").A;`,
      "agents/adk/bad.ts opens agents/adapters",
    ],
    ["wire/bad.ts", `import { x } from "./grpc/index.ts";`, "wire/bad.ts opens wire/grpc"],
    [
      "cards/recording/bad.ts",
      `import { serveRoles } from "../roles/index.ts";`,
      "cards/recording/bad.ts opens cards/roles",
    ],
    [
      "studio/pages/bad.ts",
      `import type { A } from "../console/index.ts";`,
      "studio/pages/bad.ts opens studio/console",
    ],
    [
      "wire/bad.ts",
      `import { fold } from "../protocol/fold.ts";`,
      "wire/bad.ts enters protocol/fold.ts, which is no door",
    ],
    [
      "studio/demo/bad.ts",
      `import { seededRandom } from "../../cards/statistics/random.ts";`,
      "studio/demo/bad.ts enters cards/statistics/random.ts, which is no door",
    ],
    [
      "ui/bad.ts",
      `import { connect } from "../client/public.ts";`,
      "ui/bad.ts enters client/public.ts, which is no door",
    ],
    ["server/bad.ts", `import "../entries/colloquy.ts";`, "server/bad.ts opens entries"],
    ["server/bad.ts", `import { Command } from "commander";`, "server/bad.ts uses the package commander"],
    ["engine/bad.ts", `import { readFileSync } from "node:fs";`, "engine/bad.ts uses node:fs"],
    [
      "client/bad.ts",
      `import type { x } from "../index.ts";`,
      "client/bad.ts imports index.ts, which is in no part",
    ],
    ["cellar/bad.ts", `import "../protocol/index.ts";`, "cellar/bad.ts is in no part of the table of walls"],
    ["agents/bad.ts", `import "../protocol/index.ts";`, "agents/bad.ts is in no part of the table of walls"],
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
      ["cli/models.ts", `const { model } = await import("../agents/adk/models/index.ts");`],
      [
        "wire/a.ts",
        `import type { B } from "./b.ts";\nimport { createParser } from "eventsource-parser/stream";`,
      ],
      ["wire/b.ts", `// import { a } from "./a.ts";`],
      [
        "agents/adk/models/a.ts",
        `import { generateText } from "ai";\nimport { openai } from "@ai-sdk/openai";`,
      ],
    ]);
    expect(findViolations(listImports(sound), nestedEntryPoints)).toEqual([]);
  });
});
