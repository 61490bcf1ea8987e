import { join } from "node:path";
import { build, type Plugin, type RolldownLog } from "rolldown";
import { repositoryRoot } from "./installed-runtimes.ts";

/** Replaces Vitest, and without modules of Node.js `node:assert`, by the part of Vitest that runs everywhere. */
function usePortableVitest(packageFolder: string, usesNode = true): Plugin {
  return {
    name: "portable-vitest",
    async resolveId(source) {
      if (source === "vitest" || (source === "node:assert/strict" && !usesNode))
        return join(repositoryRoot, "lab/runtimes/portable-vitest.ts");
      if (source !== "@vitest/expect") return undefined;
      return await this.resolve(source, join(packageFolder, "package.json"), { skipSelf: true });
    },
  };
}

/** Options of all bundles. The tests are side effects of their files, which the package denies for its sources. */
const COMMON_OPTIONS = {
  cwd: repositoryRoot,
  treeshake: { moduleSideEffects: () => true },
  onLog: (_level: string, { code, message }: RolldownLog) => {
    if (code === "UNRESOLVED_IMPORT") throw new Error(message);
  },
};

/** A program starts here: it runs the suite, and prints the results as the last line. */
function createProgram(suite: string): string {
  return `
import ${JSON.stringify(join(repositoryRoot, "lab/runtimes/suites", `${suite}.ts`))};
import { runCollectedTests } from ${JSON.stringify(join(repositoryRoot, "lab/runtimes/portable-vitest.ts"))};
const results = await runCollectedTests((name) => !name.includes("PostgreSQL"));
console.log("RESULTS " + JSON.stringify(results));
process.exit(0);`;
}

/** Bundles a suite for runtimes with the modules of Node.js, and returns the path of the bundle. */
export async function bundleSuiteForProcess(suite: string, packageFolder: string): Promise<string> {
  const outfile = join(packageFolder, `${suite}.suite.mjs`);
  const entry = join(repositoryRoot, "suite-program.js");
  await build({
    ...COMMON_OPTIONS,
    input: entry,
    platform: "node",
    transform: { target: "node22" },
    plugins: [
      {
        name: "program",
        resolveId: (source) => (source === entry ? entry : undefined),
        load: (id) => (id === entry ? createProgram(suite) : undefined),
      },
      usePortableVitest(packageFolder),
    ],
    output: { file: outfile, format: "esm", codeSplitting: false },
  });
  return outfile;
}

/**
 * Bundles a worker, and returns the text of the bundle. Without `usesNode`, fails if the bundle needs a module of Node.js.
 */
export async function bundleWorker(
  file: string,
  packageFolder: string,
  { usesNode = false }: { readonly usesNode?: boolean } = {},
): Promise<string> {
  const { output } = await build({
    ...COMMON_OPTIONS,
    input: join(repositoryRoot, file),
    write: false,
    platform: "browser",
    resolve: { conditionNames: ["workerd", "worker", "browser", "import", "module", "default"] },
    external: usesNode ? /^(?:node|cloudflare):/ : [],
    plugins: [usePortableVitest(packageFolder, usesNode)],
    output: { format: "esm", codeSplitting: false },
  });
  return output[0].code;
}
