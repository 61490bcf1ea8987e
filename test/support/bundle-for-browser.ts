import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type OutputChunk, type Plugin } from "rolldown";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  exports: Record<string, Record<string, string>>;
};

interface BundleOptions {
  readonly format?: "esm" | "iife";
  /** Global variable with the exports of an `iife`. */
  readonly name?: string;
  readonly minify?: boolean;
  /** Whether code that is imported on first use becomes separate chunks. Default: false. */
  readonly hasChunks?: boolean;
  readonly define?: Record<string, string>;
  readonly plugins?: readonly Plugin[];
}

/** Resolves the package's own name to its sources, as a bundler for browsers resolves it to `dist/`. */
const colloquySources: Plugin = {
  name: "colloquy-sources",
  resolveId(source) {
    if (!/^colloquy(\/|$)/.test(source)) return undefined;
    const target = exports[`.${source.slice("colloquy".length)}`]?.["default"] ?? "";
    const id = join(root, target.replace(/^\.\/dist/, "src").replace(/\.js$/, ".ts"));
    return { id, moduleSideEffects: false };
  },
};

/**
 * Bundles code of the repository for browsers, and returns the chunks, the entry first. Rejects for imports that a
 * browser cannot resolve, and for every other warning.
 */
export async function bundleForBrowser(code: string, options: BundleOptions = {}): Promise<OutputChunk[]> {
  const { format = "esm", name, minify = false, hasChunks = false, define, plugins = [] } = options;
  const entry = join(root, "bundle-entry.js");
  const { output } = await build({
    input: entry,
    cwd: root,
    platform: "browser",
    write: false,
    ...(define ? { transform: { define } } : {}),
    onLog: (level, { message }) => {
      if (level === "warn") throw new Error(message);
    },
    plugins: [
      {
        name: "entry",
        resolveId: (source) => (source === entry ? entry : undefined),
        load: (id) => (id === entry ? { code, moduleType: "ts", moduleSideEffects: true } : undefined),
      },
      colloquySources,
      ...plugins,
    ],
    output: { format, minify, codeSplitting: hasChunks, ...(name === undefined ? {} : { name }) },
  });
  return output
    .filter((file) => file.type === "chunk")
    .toSorted((one, other) => Number(other.isEntry) - Number(one.isEntry));
}
