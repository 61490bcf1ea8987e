import { globSync, readFileSync } from "node:fs";
import { dirname, join, posix, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { nodesOf, isNode, type Node } from "./syntax.ts";

/** What a room may open: another room whole, only its types, or whole but from one file only. */
type Access = "whole" | "types" | { readonly onlyIn: string };

export interface Wall {
  readonly rooms: Readonly<Record<string, Access>>;
  /** Outside packages. Each belongs to one room (and the demo may use what users use), so no name stands in two rows. */
  readonly packages?: readonly string[];
  /** Whether the room may use `node:` modules; one that may not also runs in a browser or at an edge. */
  readonly node?: boolean;
}

/** The house plan: what each folder of `src/` may import. Nobody imports `cli`. */
export const WALLS: Readonly<Record<string, Wall>> = {
  base: { rooms: {} },
  protocol: { rooms: {} },
  wire: { rooms: { protocol: "whole" }, packages: ["canonicalize", "eventsource-parser"] },
  keys: { rooms: { protocol: "whole" }, packages: ["jose"] },
  grpc: {
    rooms: { protocol: "whole", wire: "whole" },
    packages: ["@grpc/grpc-js", "@bufbuild/protobuf"],
    node: true,
  },
  engine: { rooms: { base: "whole", protocol: "whole" } },
  stores: { rooms: { base: "whole", protocol: "whole", engine: "types" }, node: true },
  client: {
    rooms: {
      protocol: "whole",
      wire: "whole",
      keys: "whole",
      grpc: { onlyIn: "client/transport/grpc-transport.ts" },
    },
  },
  server: {
    rooms: {
      base: "whole",
      protocol: "whole",
      wire: "whole",
      keys: "whole",
      engine: "whole",
      stores: { onlyIn: "server/open-store.ts" },
      grpc: { onlyIn: "server/bindings/grpc.ts" },
    },
    node: true,
  },
  adapters: {
    rooms: {
      base: "whole",
      protocol: "whole",
      wire: { onlyIn: "adapters/openai/completion.ts" },
      engine: "types",
      client: "whole",
    },
    packages: ["@a2a-js/sdk", "ai", "@langchain/langgraph"],
    node: true,
  },
  cards: { rooms: { protocol: "whole" }, packages: ["get-east-asian-width"] },
  roles: {
    rooms: {
      protocol: "whole",
      cards: "whole",
      engine: "types",
      client: "whole",
      server: { onlyIn: "roles/serve.ts" },
    },
  },
  // Runs roles over datasets and writes down what happens.
  experiments: {
    rooms: { protocol: "whole", cards: "whole", roles: "whole", engine: "types", client: "whole" },
    node: true,
  },
  adk: {
    rooms: {
      base: "whole",
      protocol: "whole",
      engine: "types",
      client: "whole",
      server: { onlyIn: "adk/to-a2a.ts" },
    },
    packages: ["@google/adk", "@google/genai", "ai", "@ai-sdk/*", "zod"],
    node: true,
  },
  config: { rooms: { engine: "types" } },
  mcp: {
    rooms: { protocol: "whole", engine: "types", client: "whole", server: "whole" },
    packages: ["@modelcontextprotocol/server", "@modelcontextprotocol/client"],
    node: true,
  },
  facade: {
    rooms: {
      base: "whole",
      protocol: "whole",
      wire: "whole",
      client: "whole",
      engine: "types",
      server: "types",
    },
  },
  cli: {
    rooms: {
      protocol: "whole",
      wire: "whole",
      engine: "whole",
      stores: "whole",
      client: "whole",
      server: "whole",
      adapters: "whole",
      cards: "whole",
      roles: "whole",
      experiments: "whole",
      adk: "whole",
      config: "whole",
      mcp: "whole",
      facade: "whole",
      demo: "whole",
    },
    packages: ["commander", "jiti"],
    node: true,
  },
  // One file for each entry of the package: re-exports, and nothing else.
  entries: {
    rooms: {
      protocol: "whole",
      engine: "types",
      stores: "whole",
      client: "whole",
      server: "whole",
      adapters: "whole",
      cards: "whole",
      roles: "whole",
      experiments: "whole",
      adk: "whole",
      config: "whole",
      mcp: "whole",
      facade: "whole",
    },
  },
  // Uses the house as its users do, and ADK beside it.
  demo: {
    rooms: { engine: "types", adapters: "whole", adk: "whole", cards: "whole", roles: "whole" },
    packages: ["@google/adk", "@google/genai"],
    node: true,
  },
};

/** Packages that two rooms need, each for what it is: the AI SDK has models for ADK's agents, and agents of its own. */
export const SHARED: ReadonlySet<string> = new Set(["ai"]);

/** Shipped source files by their path below `src/`, for example `server/index.ts`. */
export type Sources = ReadonlyMap<string, string>;

export interface Import {
  /** The importing file, below `src/`. */
  readonly from: string;
  /** The imported file below `src/`, or the name of a package, or `node:…`. */
  readonly to: string;
  readonly inside: boolean;
  readonly typesOnly: boolean;
}

/** All of `src/` but its tests, which may open whatever they test with. */
export function readSources(): Sources {
  const src = fileURLToPath(new URL("../src/", import.meta.url));
  const files = globSync("**/*.ts", { cwd: src }).filter(
    (file) => !/\.(test|contract|fixture)\.ts$/.test(file),
  );
  return new Map(files.map((file) => [file.split(sep).join("/"), readFileSync(join(src, file), "utf8")]));
}

/** Nested doors: an `index.ts` inside a room that an entry of the package re-exports. */
export function findInnerDoors(sources: Sources): string[] {
  const opened = importsOf(sources).filter(({ from, inside }) => inside && from.startsWith("entries/"));
  return [...new Set(opened.map(({ to }) => to).filter((to) => /^\w+\/.+\/index\.ts$/.test(to)))];
}

export function importsOf(sources: Sources): Import[] {
  return [...sources].flatMap(([from, source]) => {
    const found: Import[] = [];
    for (const node of nodesOf(source)) {
      const specifier = specifierOf(node);
      if (specifier === undefined) continue;
      const inside = specifier.startsWith(".");
      const to = inside ? posix.join(dirname(from), specifier) : packageOf(specifier);
      found.push({ from, to, inside, typesOnly: isForTypes(node) });
    }
    return found;
  });
}

/** Static and dynamic imports and re-exports; `undefined` for any other node. */
function specifierOf(node: Node): string | undefined {
  if (!/^(Import(Declaration|Expression)|Export(Named|All)Declaration|TSImportType)$/.test(node.type))
    return undefined;
  const source = node["source"];
  // What is computed when the program runs is not an import of ours.
  return isNode(source) && typeof source["value"] === "string" ? source["value"] : undefined;
}

/** Only what leaves no trace in the emitted code: `import { type A }` still loads the module. */
function isForTypes(node: Node): boolean {
  return node.type === "TSImportType" || node["importKind"] === "type" || node["exportKind"] === "type";
}

/** `@google/adk/tools` → `@google/adk`; `node:` modules keep their whole name. */
function packageOf(specifier: string): string {
  if (specifier.startsWith("node:")) return specifier;
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

/** Every import that goes through a wall, in words. */
export function violationsOf(sources: Sources, innerDoors: readonly string[] = []): string[] {
  const imports = importsOf(sources);
  return [...imports.flatMap((found) => violation(found, innerDoors) ?? []), ...cyclesOf(imports)];
}

function violation(
  { from, to, inside, typesOnly }: Import,
  innerDoors: readonly string[],
): string | undefined {
  const room = roomOf(from);
  const wall = room === undefined ? undefined : WALLS[room];
  if (!wall) return `${from}: the room ${room} has no row in the table of walls`;
  if (to.startsWith("node:")) return wall.node ? undefined : `${from} uses ${to}`;
  if (!inside) return mayUse(wall, to) ? undefined : `${from} uses the package ${to}`;

  const other = roomOf(to);
  if (other === room) return undefined;
  if (other === undefined) return `${from} imports ${to}, which is in no room`;
  const access = wall.rooms[other];
  if (access === undefined) return `${from} opens ${other}`;
  if (typeof access === "object" && access.onlyIn !== from)
    return `${from} opens ${other}, which only ${access.onlyIn} may`;
  if (access === "types" && !typesOnly) return `${from} opens more of ${other} than its types`;
  const isDoor = to === `${other}/index.ts` || innerDoors.includes(to);
  if (!isDoor) return `${from} enters ${to}, which is no door`;
  return undefined;
}

function roomOf(file: string): string | undefined {
  const [room, ...rest] = file.split("/");
  return rest.length > 0 ? room : undefined;
}

function mayUse({ packages = [] }: Wall, name: string): boolean {
  return packages.some((known) =>
    known.endsWith("/*") ? name.startsWith(known.slice(0, -1)) : name === known,
  );
}

/** Cycles among imports that run; types may refer to each other. */
function cyclesOf(imports: readonly Import[]): string[] {
  const edges = new Map<string, string[]>();
  for (const { from, to, inside, typesOnly } of imports) {
    if (inside && !typesOnly) edges.set(from, [...(edges.get(from) ?? []), to]);
  }
  const cycles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) cycles.push(`cycle: ${[...path.slice(path.indexOf(file)), file].join(" → ")}`);
    if (done.has(file)) return;
    done.add(file);
    for (const next of edges.get(file) ?? []) visit(next, [...path, file]);
  };
  for (const file of edges.keys()) visit(file, []);
  return cycles;
}
