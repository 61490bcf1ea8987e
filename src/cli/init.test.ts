import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { findInstallableDependency } from "./init.ts";
import {
  CliTestProcess,
  spawnColloquyForTest,
  createTempTestDirectoryWithFiles,
  runCliInTestProcess,
  startServeCommandForTest,
} from "./cli-test-process.fixture.ts";
import { isWindows } from "../../test/support/is-windows.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Creates a project with `colloquy init`, linked to this repository's packages and source types. */
async function createProject(): Promise<string> {
  const parent = await createTempTestDirectoryWithFiles({});
  const { code } = await runCliInTestProcess(["init", "weather-man"], { cwd: parent });
  expect(code).toBe(0);
  const cwd = join(parent, "weather-man");
  await symlink(join(root, "node_modules"), join(cwd, "node_modules"));
  return cwd;
}

describe("init", () => {
  it("creates a project that compiles", async () => {
    const cwd = await createProject();
    const paths = {
      colloquy: [join(root, "src/entries/colloquy.ts")],
      "colloquy/*": [join(root, "src/entries/*.ts")],
    };
    // Adds these libraries because the check includes our sources; the published types do not need them.
    const lib = ["es2024", "esnext.disposable"];
    const config = { extends: "./tsconfig.json", compilerOptions: { paths, lib } };
    await writeFile(join(cwd, "tsconfig.source.json"), JSON.stringify(config));
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const { code, out } = await new CliTestProcess(
      process.execPath,
      [tsc, "-p", "tsconfig.source.json", "--singleThreaded"],
      cwd,
    ).result;
    expect({ code, out }).toEqual({ code: 0, out: "" });
  });

  it.skipIf(isWindows)("creates a project that can be served without changes", async () => {
    const cwd = await createProject();
    const served = await startServeCommandForTest(["serve", "--store", "memory"], cwd);
    const { code, out } = await runCliInTestProcess(["send", served.agentUrls["weather-man"] ?? "", "Ada"]);
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining("Hello, Ada!") as string });
    served.process.child.kill("SIGTERM");
    expect((await served.process.result).code).toBe(0);
  });

  it("creates a project that keeps the tasks of `colloquy dev` apart from those of `colloquy serve`", async () => {
    const cwd = await createProject();
    for (const command of ["dev", "serve"]) {
      const { process } = await startServeCommandForTest([command], cwd);
      process.child.kill("SIGTERM");
      await process.result;
    }
    const files = await readdir(join(cwd, ".colloquy"));
    expect(files).toEqual(expect.arrayContaining(["colloquy.db", "dev.db"]));
  });

  it("explains the project in a README, and keeps a README that exists", async () => {
    const cwd = await createProject();
    expect(await readFile(join(cwd, "README.md"), "utf8")).toMatch(/^# weather-man\n[^]*npm run dev/);
    const other = await createTempTestDirectoryWithFiles({ "README.md": "# Mine\n" });
    expect((await runCliInTestProcess(["init", "."], { cwd: other })).code).toBe(0);
    expect(await readFile(join(other, "README.md"), "utf8")).toBe("# Mine\n");
  });

  it("depends on the running copy, and prints the next command", async () => {
    const parent = await createTempTestDirectoryWithFiles({});
    const { out, err } = await runCliInTestProcess(["init", "my agent", "--name", "My Agent"], {
      cwd: parent,
    });
    expect(out).toContain(`Directory: ${join(parent, "my agent")}\n`);
    expect(err).toBe("hint: cd 'my agent' && npm install && npm run dev\n");
    const made = JSON.parse(await readFile(join(parent, "my agent/package.json"), "utf8")) as Record<
      string,
      unknown
    >;
    const dependency = findInstallableDependency(root.replace(/\/$/, ""));
    expect(made).toMatchObject({ name: "my-agent", dependencies: { colloquy: dependency } });
  });

  it.each([
    ["a registry", "https://registry.example/colloquy/-/colloquy-1.2.3.tgz", "^1.2.3"],
    ["a URL", "https://example.com/builds/colloquy.tgz", "https://example.com/builds/colloquy.tgz"],
    ["a tarball", "file:../packs/colloquy-1.2.3.tgz", "file:PARENT/packs/colloquy-1.2.3.tgz"],
    ["another tool, or npm with --global,", undefined, "^1.2.3"],
  ])("depends on what %s installed", async (_, resolved, dependency) => {
    const parent = await createTempTestDirectoryWithFiles({
      "app/node_modules/colloquy/package.json": JSON.stringify({ name: "colloquy", version: "1.2.3" }),
      ...(resolved === undefined
        ? {}
        : {
            "app/node_modules/.package-lock.json": JSON.stringify({
              packages: { "node_modules/colloquy": { resolved } },
            }),
          }),
    });
    const found = findInstallableDependency(join(parent, "app/node_modules/colloquy"));
    expect(found).toBe(dependency.replace("PARENT", parent));
  });

  it.skipIf(isWindows)("depends on the tarball or the path of a folder outside node_modules", async () => {
    const parent = await createTempTestDirectoryWithFiles({
      "clone/package.json": JSON.stringify({ name: "colloquy", version: "1.2.3" }),
      "app/node_modules/other/package.json": "{}",
    });
    const link = join(parent, "app/node_modules/colloquy");
    await symlink(join(parent, "clone"), link);
    for (const folder of [join(parent, "clone"), link])
      expect(findInstallableDependency(folder)).toBe(`file:${folder}`);
    const tarball = "reports/package/colloquy-1.2.3.tgz";
    await mkdir(join(parent, "clone/reports/package"), { recursive: true });
    await writeFile(join(parent, "clone", tarball), "");
    for (const folder of [join(parent, "clone"), link])
      expect(findInstallableDependency(folder)).toBe(`file:${join(folder, tarball)}`);
  });

  it("creates nothing if it would overwrite a file", async () => {
    const cwd = await createTempTestDirectoryWithFiles({ "agent.ts": "precious", "other.txt": "stays" });
    const { code, err } = await runCliInTestProcess(["init"], { cwd });
    expect({ code, err }).toMatchObject({
      code: 2,
      err: expect.stringContaining("already has agent.ts") as string,
    });
    expect((await readdir(cwd)).toSorted()).toEqual(["agent.ts", "other.txt"]);
    expect(await readFile(join(cwd, "agent.ts"), "utf8")).toBe("precious");
  });
});

describe("colloquy.config.ts", () => {
  const AGENT = `export default async function* () { yield "hi"; }`;
  const configured = (config: string): string =>
    `import { defineConfig } from "colloquy";\nexport default defineConfig(${config});\n`;

  it.each([
    ["{ prot: 1 }", "prot is unknown. Did you mean port?"],
    ["{ agents: 7 }", "agents must be a list of files, or agents by their names."],
    [`{ port: "4120", strictPort: 1 }`, "port must be a whole number. strictPort must be true or false."],
    [`{ drain: 20, role: "job" }`, "drain must be a duration, such as 500ms, 30s, or 5m. role must be web"],
    [`{ drain: "soon" }`, "drain must be a duration"],
  ])("that says %s is refused", async (config, words) => {
    const cwd = await createTempTestDirectoryWithFiles({
      "colloquy.config.mjs": `export default ${config};`,
    });
    const { code, err } = await runCliInTestProcess(["serve"], { cwd });
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining(words) as string });
  });

  it.each([
    ["export const config = {};", "has no default export"],
    ["export default 7;", "has no default export"],
    ["throw new Error('no luck');", "could not be loaded: no luck"],
  ])("that is %j is refused", async (source, words) => {
    const cwd = await createTempTestDirectoryWithFiles({ "colloquy.config.mjs": source });
    const { code, err } = await runCliInTestProcess(["serve"], { cwd });
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining(words) as string });
  });

  it("overrides the defaults, but not the command line or the environment", async () => {
    const config = configured(`{ agents: ["one.mjs"], host: "0.0.0.0", port: 1, store: "memory" }`);
    const cwd = await createTempTestDirectoryWithFiles({
      "colloquy.config.ts": config,
      "one.mjs": AGENT,
      "two.mjs": AGENT,
    });
    const { code, err } = await spawnColloquyForTest(["serve", "--port", "0"], cwd).result;
    // The host comes from the file, so a non-loopback address still requires an explicit option.
    expect({ code, err }).toMatchObject({
      code: 1,
      err: expect.stringContaining("--allow-unauthenticated") as string,
    });
    const served = await startServeCommandForTest(["serve", "two.mjs", "--host", "127.0.0.1"], cwd);
    expect(Object.keys(served.agentUrls)).toEqual(["two"]);
    served.process.child.kill("SIGKILL");
    await served.process.result;
  });

  it.skipIf(isWindows)(
    "sets the token of POST /tick, and the time in which a stopping server drains",
    async () => {
      const config = configured(
        `{ agents: ["one.mjs"], store: "memory", tickToken: "secret", drain: "400ms" }`,
      );
      const cwd = await createTempTestDirectoryWithFiles({ "colloquy.config.ts": config, "one.mjs": AGENT });
      const { url, process: served } = await startServeCommandForTest(["serve"], cwd);
      const tick = await fetch(`${url}/tick`, {
        method: "POST",
        headers: { authorization: "Bearer secret" },
      });
      expect(await tick.json()).toEqual({ turns: 0, notifications: 0, isComplete: true });
      const stoppedAt = performance.now();
      served.child.kill("SIGTERM");
      expect((await served.result).code).toBe(0);
      expect(performance.now() - stoppedAt).toBeGreaterThanOrEqual(400);
    },
  );

  it("may contain agents, and resolves paths relative to itself", async () => {
    const importLine = `import { agent } from "colloquy";\n`;
    const agents = `{ agents: { hello: agent({ name: "hello", description: "Greets" }, async function* () { yield "hi"; }) }, store: "memory" }`;
    const cwd = await createTempTestDirectoryWithFiles({
      "colloquy.config.ts": importLine + configured(agents),
    });
    const served = await startServeCommandForTest(["serve"], cwd);
    expect((await runCliInTestProcess(["send", served.agentUrls["hello"] ?? "", "x"])).out).toContain("hi");
    served.process.child.kill("SIGKILL");
    await served.process.result;
    const there = await createTempTestDirectoryWithFiles({
      "mine.config.mjs": `export default { agents: ["one.mjs"], store: "sqlite:tasks.db" };`,
      "one.mjs": AGENT,
    });
    const other = await startServeCommandForTest(
      ["serve", "--config", join(there, "mine.config.mjs")],
      dirname(there),
    );
    expect(Object.keys(other.agentUrls)).toEqual(["one"]);
    expect(await readdir(there)).toContain("tasks.db");
    other.process.child.kill("SIGKILL");
    await other.process.result;
  });
});
