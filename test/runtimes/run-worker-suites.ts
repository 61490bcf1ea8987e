import { createRequire } from "node:module";
import { join } from "node:path";
import { readFileSync } from "node:fs";
import type { SuiteName } from "./runtime-table.ts";

interface TestResult {
  readonly name: string;
  readonly error?: string;
}

/** The part of Miniflare that this file uses. Miniflare is only in the manifest of this folder. */
interface MiniflareModule {
  readonly Miniflare: new (options: object) => {
    readonly ready: Promise<URL>;
    dispose(): Promise<void>;
  };
}

/** Suites of the worker, with the beginning of the names of their tests. */
const PREFIXES: readonly (readonly [SuiteName, string])[] = [
  ["stores", "MemoryStore"],
  ["server", "a server"],
];

/** Runs the suites in workerd without the compatibility with Node.js, over a real socket. */
export async function runWorkerSuites(
  folder: string,
  script: string,
): Promise<{ version: string; results: [SuiteName, TestResult[]][] }> {
  const require = createRequire(join(folder, "package.json"));
  const { Miniflare } = require("miniflare") as MiniflareModule;
  const { version } = JSON.parse(readFileSync(join(folder, "node_modules/workerd/package.json"), "utf8")) as {
    version: string;
  };
  const miniflare = new Miniflare({ modules: true, script, compatibilityDate: "2026-05-01" });
  try {
    const url = await miniflare.ready;
    const results: [SuiteName, TestResult[]][] = [];
    for (const [suite, prefix] of PREFIXES) {
      const response = await fetch(new URL(`/?prefix=${encodeURIComponent(prefix)}`, url));
      const text = await response.text();
      const tests = response.ok
        ? (JSON.parse(text) as TestResult[])
        : [{ name: "the suite starts", error: text.slice(0, 1500) }];
      results.push([suite, tests]);
    }
    return { version, results };
  } finally {
    await miniflare.dispose();
  }
}
