import { globSync, readFileSync } from "node:fs";
import { dirname, join, posix, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { getSourceLanguage, isSyntaxNode, type SyntaxNode, walkNodes } from "../support/syntax-tree.ts";

/** How a folder may import another: completely, types only, completely from a file or a few, or the types of a file. */
type ImportAccess =
  | "whole"
  | "types"
  | { readonly onlyIn: string | readonly string[] }
  | { readonly typesFrom: string };

export interface ImportBoundary {
  readonly rooms: Readonly<Record<string, ImportAccess>>;
  /** External packages. Each belongs to one folder, and to `demo`, which may use all that users use. */
  readonly packages?: readonly string[];
  /**
   * Whether the folder, or one of its subfolders, may use `node:` modules. Folders without them also run in browsers
   * and edge runtimes.
   */
  readonly allowsNode?: boolean | { readonly onlyIn: string };
  /** Nested `index.ts` files that other folders may import, although no package entry re-exports them. */
  readonly nestedDoors?: readonly string[];
}

/** The import boundaries of each folder in `src/`. No folder imports `cli`. */
export const IMPORT_BOUNDARIES: Readonly<Record<string, ImportBoundary>> = {
  "data-structures": { rooms: {}, packages: ["@noble/hashes"] },
  protocol: { rooms: {} },
  wire: {
    rooms: { protocol: "whole" },
    packages: ["canonicalize", "eventsource-parser"],
    // Bundlers remove the unused members of a namespace only if its module is imported directly.
    nestedDoors: [
      "wire/canonical-card/index.ts",
      "wire/v0_3/index.ts",
      "wire/v1/index.ts",
      "wire/simple-dialect/index.ts",
    ],
  },
  keys: { rooms: { protocol: "whole" }, packages: ["jose"] },
  grpc: {
    rooms: { protocol: "whole", wire: "whole" },
    packages: ["@grpc/grpc-js", "@bufbuild/protobuf"],
    allowsNode: true,
  },
  engine: { rooms: { "data-structures": "whole", protocol: "whole" } },
  webhooks: { rooms: { "data-structures": "whole", protocol: "whole", engine: "whole" } },
  retention: { rooms: { protocol: "whole", engine: "whole" } },
  "usage-checks": { rooms: {} },
  // The format and the model also run in browsers. Only the writers and readers of files use Node.js.
  trace: {
    rooms: { protocol: "whole", "usage-checks": "whole", logging: "whole" },
    allowsNode: { onlyIn: "trace/recording/" },
  },
  telemetry: {
    rooms: { protocol: "whole" },
    nestedDoors: ["telemetry/node/index.ts"],
    packages: [
      "@opentelemetry/api",
      "@opentelemetry/exporter-metrics-otlp-http",
      "@opentelemetry/exporter-trace-otlp-http",
      "@opentelemetry/resources",
      "@opentelemetry/sdk-metrics",
      "@opentelemetry/sdk-trace-node",
    ],
  },
  // Reads `process`, but imports no `node:` module.
  logging: { rooms: { protocol: "whole", "usage-checks": "whole", engine: "types" } },
  stores: {
    rooms: { "data-structures": "whole", protocol: "whole", "usage-checks": "whole", engine: "types" },
    packages: ["pg"],
    allowsNode: true,
  },
  client: {
    rooms: {
      protocol: "whole",
      telemetry: "whole",
      "usage-checks": "whole",
      wire: "whole",
      keys: "whole",
      trace: "whole",
      grpc: { onlyIn: "client/transport/grpc-transport.ts" },
    },
  },
  server: {
    rooms: {
      "data-structures": "whole",
      protocol: "whole",
      telemetry: "whole",
      "usage-checks": "whole",
      logging: "whole",
      wire: "whole",
      keys: "whole",
      engine: "whole",
      webhooks: "whole",
      retention: "whole",
      trace: "whole",
      stores: {
        onlyIn: [
          "server/resolve-store.ts",
          "server/durable-object/create-durable-object-server.ts",
          "server/node/resolve-node-store.ts",
        ],
      },
      grpc: { onlyIn: "server/bindings/grpc.ts" },
    },
    allowsNode: true,
  },
  adapters: {
    rooms: {
      "data-structures": "whole",
      protocol: "whole",
      "usage-checks": "whole",
      wire: { onlyIn: "adapters/openai/completion.ts" },
      engine: "types",
      client: "whole",
    },
    packages: ["@a2a-js/sdk", "ai", "@langchain/langgraph", "@mastra/core", "@openai/agents"],
    allowsNode: true,
  },
  cards: { rooms: { protocol: "whole", "usage-checks": "whole" }, packages: ["get-east-asian-width"] },
  roles: {
    rooms: {
      protocol: "whole",
      "usage-checks": "whole",
      logging: "whole",
      cards: "whole",
      engine: "types",
      client: "whole",
      server: { onlyIn: "roles/serve-roles.ts" },
    },
  },
  // Runs roles over datasets and records the results.
  experiments: {
    rooms: {
      protocol: "whole",
      "usage-checks": "whole",
      cards: "whole",
      roles: "whole",
      engine: "types",
      client: "whole",
    },
    allowsNode: true,
  },
  adk: {
    rooms: {
      "data-structures": "whole",
      protocol: "whole",
      "usage-checks": "whole",
      logging: "whole",
      engine: "types",
      client: "whole",
      server: { onlyIn: "adk/to-a2a.ts" },
      stores: { onlyIn: "adk/sessions/sqlite-session-service.ts" },
    },
    packages: ["@google/adk", "@google/genai", "ai", "@ai-sdk/*", "zod"],
    allowsNode: true,
  },
  config: { rooms: { engine: "types" } },
  // The reload loop of `colloquy dev`.
  dev: { rooms: { engine: "types" }, allowsNode: true },
  mcp: {
    rooms: {
      "data-structures": "whole",
      protocol: "whole",
      telemetry: "whole",
      "usage-checks": "whole",
      logging: "whole",
      engine: "types",
      client: "whole",
      server: "whole",
    },
    packages: ["@modelcontextprotocol/server", "@modelcontextprotocol/client"],
    allowsNode: true,
  },
  "openai-facade": {
    rooms: {
      "data-structures": "whole",
      protocol: "whole",
      "usage-checks": "whole",
      logging: "whole",
      wire: "whole",
      client: "whole",
      engine: "types",
      server: "types",
    },
  },
  tap: {
    rooms: {
      protocol: "whole",
      "usage-checks": "whole",
      wire: "whole",
      keys: "whole",
      trace: "whole",
      client: "whole",
      grpc: { onlyIn: ["tap/grpc/describe-grpc-call.ts", "tap/replay/grpc-replay.ts"] },
    },
    allowsNode: true,
  },
  // A browser app. Node.js code imports its bundles.
  pages: {
    rooms: {
      protocol: "whole",
      "usage-checks": "whole",
      trace: "whole",
      cards: "whole",
      // The parser of server-sent events.
      wire: "whole",
      console: { typesFrom: "console/api-types.ts" },
    },
    packages: [
      "preact",
      "@preact/signals",
      "@tanstack/virtual-core",
      "@dagrejs/dagre",
      "diff",
      "dompurify",
      "marked",
    ],
  },
  // Runs in browsers.
  ui: {
    rooms: { protocol: "whole", "usage-checks": "whole", wire: "whole", client: "whole" },
    packages: ["react", "ai"],
  },
  console: {
    rooms: {
      protocol: "whole",
      "usage-checks": "whole",
      logging: "whole",
      wire: "whole",
      trace: "whole",
      engine: "types",
      client: "whole",
      server: "whole",
      pages: { onlyIn: "console/load-console-page.ts" },
    },
    allowsNode: true,
  },
  cli: {
    rooms: {
      protocol: "whole",
      "usage-checks": "whole",
      logging: "whole",
      trace: "whole",
      wire: "whole",
      engine: "whole",
      retention: "whole",
      stores: "whole",
      client: "whole",
      server: "whole",
      adapters: "whole",
      cards: "whole",
      roles: "whole",
      experiments: "whole",
      adk: "whole",
      config: "whole",
      dev: "whole",
      console: "whole",
      pages: "whole",
      mcp: "whole",
      "openai-facade": "whole",
      tap: "whole",
      demo: "whole",
    },
    packages: ["commander", "jiti"],
    allowsNode: true,
  },
  // One file for each package entry, with re-exports only.
  entries: {
    rooms: {
      protocol: "whole",
      "usage-checks": "whole",
      logging: "whole",
      trace: "whole",
      engine: "types",
      retention: "types",
      stores: "whole",
      client: "whole",
      server: "whole",
      adapters: "whole",
      cards: "whole",
      console: "whole",
      pages: "whole",
      roles: "whole",
      experiments: "whole",
      adk: "whole",
      config: "whole",
      mcp: "whole",
      "openai-facade": "whole",
      ui: "whole",
    },
  },
  // Uses the library as its users do, together with ADK.
  demo: {
    rooms: { engine: "types", adapters: "whole", adk: "whole", cards: "whole", roles: "whole" },
    packages: ["@google/adk", "@google/genai"],
    allowsNode: true,
  },
};

/**
 * Packages that several folders use for different purposes: the AI SDK provides models for ADK agents, agents, and the
 * types of `useChat`.
 */
export const SHARED_PACKAGES: ReadonlySet<string> = new Set(["ai"]);

/** Shipped source files by path below `src/`, for example `server/index.ts`. */
export type SourceFiles = ReadonlyMap<string, string>;

export interface Import {
  /** Path of the importing file, below `src/`. */
  readonly from: string;
  /** Path of the imported file below `src/`, the name of a package, or a `node:` module. */
  readonly to: string;
  readonly isInternal: boolean;
  readonly isTypeOnly: boolean;
}

/** Reads all files of `src/` except tests, which may import anything. */
export function readSources(): SourceFiles {
  const src = fileURLToPath(new URL("../../src/", import.meta.url));
  const files = globSync("**/*.{ts,tsx}", { cwd: src }).filter(
    (file) => !/\.(test|contract|fixture)\.ts$|page-bundle\.ts$/.test(file),
  );
  return new Map(files.map((file) => [file.split(sep).join("/"), readFileSync(join(src, file), "utf8")]));
}

/** Returns each nested `index.ts` that a package entry re-exports. */
export function findNestedEntryPoints(imports: readonly Import[]): string[] {
  const opened = imports.filter(({ from, isInternal }) => isInternal && from.startsWith("entries/"));
  return [...new Set(opened.map(({ to }) => to).filter((to) => /^[\w-]+\/.+\/index\.ts$/.test(to)))];
}

/** Parses the sources, which takes a second for all of `src/`. */
export function listImports(sources: SourceFiles): Import[] {
  return [...sources].flatMap(([from, source]) => {
    const found: Import[] = [];
    for (const node of walkNodes(source, getSourceLanguage(from))) {
      const specifier = getSpecifier(node);
      if (specifier === undefined) continue;
      const inside = specifier.startsWith(".");
      const to = inside ? posix.join(dirname(from), specifier) : getPackageName(specifier);
      found.push({ from, to, isInternal: inside, isTypeOnly: isTypeOnlyImport(node) });
    }
    return found;
  });
}

/** Returns the specifier of a static or dynamic import or re-export, or `undefined` for any other node. */
function getSpecifier(node: SyntaxNode): string | undefined {
  if (!/^(Import(Declaration|Expression)|Export(Named|All)Declaration|TSImportType)$/.test(node.type))
    return undefined;
  const source = node["source"];
  // A specifier computed at run time does not belong to our own imports.
  return isSyntaxNode(source) && typeof source["value"] === "string" ? source["value"] : undefined;
}

/** Returns whether an import disappears from the emitted code. `import { type A }` still loads the module. */
function isTypeOnlyImport(node: SyntaxNode): boolean {
  return node.type === "TSImportType" || node["importKind"] === "type" || node["exportKind"] === "type";
}

/**
 * Returns the package of a specifier: `@google/adk/tools` → `@google/adk`. `node:` modules keep their full
 * name.
 */
function getPackageName(specifier: string): string {
  if (specifier.startsWith("node:")) return specifier;
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

/** Returns a message for every import that violates a boundary. */
export function findViolations(imports: readonly Import[], innerDoors: readonly string[] = []): string[] {
  return [...imports.flatMap((found) => findViolation(found, innerDoors) ?? []), ...findCycles(imports)];
}

function findViolation(
  { from, to, isInternal, isTypeOnly }: Import,
  innerDoors: readonly string[],
): string | undefined {
  const room = getRoom(from);
  const wall = room === undefined ? undefined : IMPORT_BOUNDARIES[room];
  if (!wall) return `${from}: the room ${room} has no row in the table of walls`;
  if (to.startsWith("node:")) return mayUseNode(wall, from) ? undefined : `${from} uses ${to}`;
  if (!isInternal) return mayUsePackage(wall, to) ? undefined : `${from} uses the package ${to}`;

  const other = getRoom(to);
  if (other === room) return undefined;
  if (other === undefined) return `${from} imports ${to}, which is in no room`;
  const access = wall.rooms[other];
  if (access === undefined) return `${from} opens ${other}`;
  if (typeof access === "object" && "typesFrom" in access)
    return isTypeOnly && to === access.typesFrom
      ? undefined
      : `${from} imports more of ${other} than types of ${access.typesFrom}`;
  if (typeof access === "object" && ![access.onlyIn].flat().includes(from))
    return `${from} opens ${other}, which only ${[access.onlyIn].flat().join(" and ")} may`;
  if (access === "types" && !isTypeOnly) return `${from} opens more of ${other} than its types`;
  const isDoor =
    to === `${other}/index.ts` ||
    innerDoors.includes(to) ||
    IMPORT_BOUNDARIES[other]?.nestedDoors?.includes(to) === true;
  if (!isDoor) return `${from} enters ${to}, which is no door`;
  return undefined;
}

function getRoom(file: string): string | undefined {
  const [room, ...rest] = file.split("/");
  return rest.length > 0 ? room : undefined;
}

function mayUseNode({ allowsNode = false }: ImportBoundary, file: string): boolean {
  return typeof allowsNode === "boolean" ? allowsNode : file.startsWith(allowsNode.onlyIn);
}

function mayUsePackage({ packages = [] }: ImportBoundary, name: string): boolean {
  return packages.some((known) =>
    known.endsWith("/*") ? name.startsWith(known.slice(0, -1)) : name === known,
  );
}

/** Finds cycles among all imports, also among imports of types, so that every file can be read after its imports. */
function findCycles(imports: readonly Import[]): string[] {
  const edges = new Map<string, string[]>();
  for (const { from, to, isInternal } of imports)
    if (isInternal) edges.set(from, [...(edges.get(from) ?? []), to]);
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
