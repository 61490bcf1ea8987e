import { join } from "node:path";
import { build, type Plugin } from "esbuild";
import { repositoryRoot } from "./installed-runtimes.ts";

/** Replaces Vitest by the part of it that runs everywhere. */
function usePortableVitest(packageFolder: string): Plugin {
  return {
    name: "portable-vitest",
    setup(bundler) {
      bundler.onResolve({ filter: /^vitest$/ }, () => ({
        path: join(repositoryRoot, "lab/runtimes/portable-vitest.ts"),
      }));
      bundler.onResolve({ filter: /^@vitest\/expect$/ }, ({ path, pluginData }) =>
        pluginData === "resolved"
          ? undefined
          : bundler.resolve(path, {
              resolveDir: packageFolder,
              kind: "import-statement",
              pluginData: "resolved",
            }),
      );
    },
  };
}

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
  await build({
    stdin: { contents: createProgram(suite), resolveDir: repositoryRoot },
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node22",
    // The tests are side effects of their files, which the package denies for its sources.
    ignoreAnnotations: true,
    // Packages in CommonJS call `require` for the modules of Node.js.
    banner: {
      js: `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);`,
    },
    plugins: [usePortableVitest(packageFolder)],
    logLevel: "error",
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
  const { outputFiles } = await build({
    entryPoints: [join(repositoryRoot, file)],
    write: false,
    bundle: true,
    format: "esm",
    platform: "browser",
    conditions: ["workerd", "worker", "browser"],
    external: usesNode ? ["node:*", "cloudflare:*"] : [],
    ignoreAnnotations: true,
    plugins: [usePortableVitest(packageFolder)],
    logLevel: "error",
  });
  return outputFiles[0]?.text ?? "";
}
