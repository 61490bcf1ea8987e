import { execFile } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { countModulesOfCommand, countModulesOfEntry } from "../../../lab/bench/modules.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../..", import.meta.url));
const own = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly files: readonly string[];
  readonly version: string;
};
const { dependencies, files, version } = own;
/** A copy of the package, below the repository's node_modules. */
const folder = join(root, ".tmp/package-budgets");

beforeAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await run(process.execPath, ["scripts/build.mjs", join(folder, "dist")], { cwd: root });
  for (const path of [...files, "package.json", "README.md", "LICENSE"])
    if (path !== "dist" && existsSync(join(root, path)))
      cpSync(join(root, path), join(folder, path), { recursive: true });
}, 120_000);

describe("the built package", () => {
  it.each([
    ["colloquy", 40],
    ["colloquy/auth", 25],
    ["colloquy/cards", 38],
    ["colloquy/client", 25],
    ["colloquy/durable-object", 23],
    ["colloquy/trace", 15],
    ["colloquy/ui", 18],
  ])("loads few files for an import of %s, and none of another package", async (entry, maxFiles) => {
    expect(await countModulesOfEntry(folder, entry)).toBeLessThanOrEqual(maxFiles);
  });

  it.each([
    [["--version"], 10],
    [["--help"], 10],
    [["card", "get", "--help"], 42],
    [["send", "--help"], 42],
    [["task", "get", "--help"], 42],
    [["serve", "--help"], 42],
  ])("loads few files for the command %j", async (args, maxFiles) => {
    expect(await countModulesOfCommand(folder, args)).toBeLessThanOrEqual(maxFiles);
  });

  it("has at most 300 files and 5 MB", async () => {
    const npm = process.platform === "win32" ? "npm.cmd" : "npm";
    const { stdout } = await run(npm, ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: folder });
    const [packed] = JSON.parse(stdout) as [{ files: unknown[]; unpackedSize: number }];
    expect(packed.files.length).toBeLessThanOrEqual(300);
    expect(packed.unpackedSize).toBeLessThanOrEqual(5_000_000);
  });

  it("installs two packages, which have no dependencies and at most 2.5 MB", () => {
    const folders = Object.keys(dependencies).map((name) => join(root, "node_modules", name));
    expect(folders.length).toBeLessThanOrEqual(2);
    const sizes = folders.map((path) => {
      const manifest = JSON.parse(readFileSync(join(path, "package.json"), "utf8")) as Partial<typeof own>;
      expect(manifest.dependencies ?? {}).toEqual({});
      const entries = readdirSync(path, { recursive: true, withFileTypes: true });
      const contents = entries.filter((entry) => entry.isFile());
      return contents.reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0);
    });
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(2_500_000);
  });

  it("contains each class of errors once, so that errors of one entry are instances for the others", async () => {
    const program = `const { A2AError } = await import("colloquy");
      const client = await import("colloquy/client");
      console.log(new client.A2AError("INTERNAL", "x") instanceof A2AError)`;
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program], {
      cwd: folder,
    });
    expect(stdout).toBe("true\n");
  });

  it("finds its version and its templates", async () => {
    const colloquy = join(folder, "bin/colloquy.js");
    const { stdout } = await run(process.execPath, [colloquy, "--version"]);
    expect(stdout).toBe(`${version}\n`);
    const project = join(folder, "project");
    await run(process.execPath, [colloquy, "init", project, "--template", "hono"]);
    expect(existsSync(join(project, "server.ts"))).toBe(true);
    rmSync(project, { recursive: true });
  });
});
