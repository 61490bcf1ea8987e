/**
 * `npm run lab -- bundlers` packs the built package, installs it without optional packages, and bundles `connect` and
 * `createServer` for browsers with four bundlers and without aliases. Fails if a bundle exceeds its limit. Run
 * `npm run build` first.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { installManifest, repositoryRoot } from "../runtimes/installed-runtimes.ts";

const PROGRAMS = {
  connect: `export { connect } from "colloquy/client";`,
  server: `export { agent, createServer } from "colloquy";`,
} as const;

/**
 * Maximum size in bytes of the compressed scripts that a page loads at once. esbuild's scripts are 3 to 4 percent larger
 * than those of rolldown, which `test/house/bundle-size.test.ts` limits for the sources. The chunks of the build add the
 * tables of errors to `connect`, and code of other programs to esbuild's server.
 */
const MAX_GZIP_BYTES = { connect: 33_200, server: 93_400 } as const;

/** Programs that bundle `entry` into the folder `out`. Each runs in the folder of the installed bundlers. */
const BUNDLERS: Readonly<Record<string, (entry: string, out: string) => string>> = {
  esbuild: (entry, out) => `import { build } from "esbuild";
await build({ entryPoints: ["${entry}"], outdir: "${out}", bundle: true, minify: true, splitting: true, format: "esm", platform: "browser", logLevel: "error" });`,
  rolldown: (entry, out) => `import { rolldown } from "rolldown";
const bundle = await rolldown({ input: "${entry}", platform: "browser", onLog(level, log) { if (level === "warn") throw new Error(log.message); } });
await bundle.write({ dir: "${out}", format: "esm", minify: true });`,
  Vite: (entry, out) => `import { build } from "vite";
await build({ configFile: false, logLevel: "error", build: { outDir: "${out}", minify: true, rollupOptions: { input: "${entry}", preserveEntrySignatures: "strict" } } });`,
  webpack: (entry, out) => `import webpack from "webpack";
import { resolve } from "node:path";
await new Promise((done, fail) => webpack({ mode: "production", target: "web", entry: "./${entry}", output: { path: resolve("${out}"), library: { type: "module" } }, experiments: { outputModule: true }, performance: false }, (error, stats) => {
  const { errors = [], warnings = [] } = stats?.toJson() ?? {};
  if (error || errors.length + warnings.length > 0) fail(error ?? new Error([...errors, ...warnings].map(({ message }) => message).join("\\n")));
  else done();
}));`,
};

/** Prints the size of the scripts that the entry loads at once. */
const MEASURE = `import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
const files = readdirSync(process.argv[2], { recursive: true }).map((file) => join(process.argv[2], file)).filter((file) => statSync(file).isFile() && file.endsWith("js"));
const texts = new Map(files.map((file) => [file, readFileSync(file, "utf8")]));
if ([...texts.values()].some((text) => /["']node:|grpc-js/.test(text))) throw new Error("The bundle contains a module of Node.js.");
const entry = files.find((file) => /\\bconnect|\\bcreateServer|main|entry/.test(file.split("/").at(-1)));
const first = new Set([entry]);
for (const file of first) for (const [, path] of texts.get(file).matchAll(/(?:\\bfrom|\\bimport)\\s*["'](\\.[^"']+)["']/g)) first.add(join(dirname(file), path));
const size = (names) => [...names].reduce((sum, file) => sum + gzipSync(texts.get(file), { level: 9 }).length, 0);
console.log(size(first) + " bytes at once, " + size(files) + " in all");`;

const folder = installManifest("lab/bundlers/package.json", "colloquy-bundlers");
const run = (command: string, args: readonly string[], cwd = folder): string =>
  execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
const [packed] = JSON.parse(
  run("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder], repositoryRoot),
) as [{ filename: string }];
// The binaries of the bundlers are optional packages, so that an installation without those needs a folder of its own.
const programFolder = join(folder, "program");
rmSync(programFolder, { recursive: true, force: true });
mkdirSync(programFolder);
writeFileSync(join(programFolder, "package.json"), `{ "private": true }`);
const omitted = ["--omit=optional", "--omit=peer"];
const tarball = join(folder, packed.filename);
run("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", ...omitted, tarball], programFolder);
writeFileSync(join(folder, "measure.mjs"), MEASURE);
// Names of earlier scripts contain other hashes.
rmSync(join(folder, "out"), { recursive: true, force: true });

for (const program of ["connect", "server"] as const) {
  const code = PROGRAMS[program];
  const entry = `program/${program}-entry.js`;
  writeFileSync(join(folder, entry), code);
  for (const [bundler, createBuild] of Object.entries(BUNDLERS)) {
    const out = `out/${bundler}-${program}`;
    const script = `${bundler}-${program}.mjs`;
    writeFileSync(join(folder, script), createBuild(entry, out));
    try {
      run(process.execPath, [script]);
      const sizes = run(process.execPath, ["measure.mjs", out]).trim();
      console.log(`${program}, ${bundler}: ${sizes}`);
      assertWithinLimit(program, sizes);
    } catch (error) {
      process.exitCode = 1;
      const { stderr } = error as { readonly stderr?: string };
      console.log(`${program}, ${bundler}: failed\n${stderr ?? String(error)}`);
    }
  }
}

function assertWithinLimit(program: keyof typeof PROGRAMS, sizes: string): void {
  const limit = MAX_GZIP_BYTES[program];
  if (Number.parseInt(sizes, 10) <= limit) return;
  throw new Error(`The limit is ${limit} bytes at once. Remove an import, or raise the limit in this file.`);
}
