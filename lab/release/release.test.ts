import { spawn, spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { loadAll } from "js-yaml";
import { describe, expect, it } from "vitest";
import { createPublishArguments, listPublisherMachineProblems } from "./publish-arguments.ts";
import { parsePublishedVersions } from "./published-versions.ts";
import { listReleaseProblems, type ReleaseState } from "./release-problems.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { scripts } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as {
  scripts: Record<string, string>;
};

describe("a release", () => {
  const ready: ReleaseState = {
    version: "0.2.0",
    repositoryUrl: "https://github.com/ada/colloquy",
    author: "Ada Lovelace <ada@example.com>",
    builtVersion: "0.2.0",
    builtCommit: "c0ffee",
    commit: "c0ffee",
    isPushed: true,
    changelog: "# Changelog\n\n## 0.2.0\n\n- New.\n\n## 0.1.0\n",
    pendingChangesets: [],
    changedFiles: "",
    branch: "main",
    publishedVersions: ["0.1.0"],
  };

  it("is possible if nothing is missing", () => {
    expect(listReleaseProblems(ready)).toEqual([]);
  });

  it.each<[Partial<ReleaseState>, RegExp]>([
    [{ repositoryUrl: undefined }, /package\.json needs "repository"/],
    [{ author: undefined }, /package\.json needs "author"/],
    [{ builtVersion: "0.1.0" }, /run npm run lab -- package/],
    [{ builtCommit: "beef" }, /not of commit c0ffee.*run npm run lab -- package/],
    [{ builtCommit: undefined }, /not of commit c0ffee/],
    [{ isPushed: false }, /push it/],
    [{ publishedVersions: undefined }, /npm does not report/],
    [{ changelog: "## 0.2.0 (unreleased)\n" }, /"\(unreleased\)"/],
    [{ changelog: "## 0.2.0-beta\n" }, /no heading "## 0\.2\.0"/],
    [{ pendingChangesets: ["kind-cats.md"] }, /kind-cats\.md/],
    [{ changedFiles: " M README.md\n" }, /README\.md/],
    [{ branch: "next" }, /next/],
    [{ publishedVersions: ["0.1.0", "0.2.0"] }, /already has version 0\.2\.0/],
  ])("is refused with %j", (change, message) => {
    expect(listReleaseProblems({ ...ready, ...change })).toEqual([expect.stringMatching(message) as string]);
  });

  it("cannot be made from the repository by mistake", () => {
    const { private: isPrivate } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as {
      private?: boolean;
    };
    expect(isPrivate).toBe(true);
  });
});

describe("the published versions", () => {
  it.each([
    [0, `["0.1.0", "0.2.0"]`, ["0.1.0", "0.2.0"]],
    [0, `"0.1.0"`, ["0.1.0"]],
    [1, `{ "error": { "code": "E404" } }`, []],
    [1, `{ "error": { "code": "ENOTFOUND" } }`, undefined],
    [1, "", undefined],
    [0, "", undefined],
  ])("of exit code %i and the output %s are %j", (status, stdout, versions) => {
    expect(parsePublishedVersions({ status, stdout })).toEqual(versions);
  });
});

describe("npm publish", () => {
  it("signs the provenance in the workflow, and only there", () => {
    const run = { packageFolder: "built", isDryRun: false };
    const publish = ["publish", "built", "--access", "public"];
    expect(createPublishArguments({ ...run, isInWorkflow: true })).toEqual([...publish, "--provenance"]);
    expect(createPublishArguments({ ...run, isInWorkflow: false })).toEqual(publish);
  });

  it("runs outside of the workflow only for the first version", () => {
    expect(listPublisherMachineProblems(false, [])).toEqual([]);
    expect(listPublisherMachineProblems(true, ["0.1.0"])).toEqual([]);
    expect(listPublisherMachineProblems(false, ["0.1.0"])).toEqual([
      expect.stringMatching(/^Only the workflow Release/) as string,
    ]);
  });

  it("accepts a published version in a dry run, so that pull requests keep the version", async () => {
    const packageFolder = await mkdtemp(join(tmpdir(), "colloquy-publish-"));
    const manifest = { name: "colloquy-dry-run", version: "0.1.0" };
    await writeFile(join(packageFolder, "package.json"), JSON.stringify(manifest));
    const registry = await startRegistry({ ...manifest, dist: { tarball: "http://127.0.0.1/a.tgz" } });
    try {
      const npmArguments = createPublishArguments({ packageFolder, isDryRun: true, isInWorkflow: true });
      const withoutForce = npmArguments.filter((argument) => argument !== "--force");
      const [dryRun, unforced] = await Promise.all(
        [npmArguments, withoutForce].map((each) => runNpm(each, registry.url)),
      );
      expect(dryRun).toMatchObject({ exitCode: 0 });
      expect(unforced).toEqual({
        exitCode: 1,
        errors: expect.stringContaining("previously published versions") as string,
      });
    } finally {
      registry.close();
    }
  });
});

/** Starts a registry that has one version of one package. */
async function startRegistry(version: {
  readonly name: string;
  readonly version: string;
  readonly dist: object;
}): Promise<{ url: string; close: () => void }> {
  const document = {
    name: version.name,
    "dist-tags": { latest: version.version },
    versions: { [version.version]: version },
  };
  const server = createServer((_, response) => {
    response.setHeader("content-type", "application/json").end(JSON.stringify(document));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { url, close: () => void server.close() };
}

/** Does not block the process, which contains the registry. */
async function runNpm(
  npmArguments: readonly string[],
  registry: string,
): Promise<{ exitCode: number | null; errors: string }> {
  const child = spawn("npm", npmArguments, {
    // `npm run -s` sets the log level, which would silence this npm too.
    env: { ...process.env, npm_config_registry: registry, npm_config_loglevel: "notice", GITHUB_ACTIONS: "" },
    stdio: ["ignore", "ignore", "pipe"],
    shell: process.platform === "win32",
  });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => void (errors += text));
  const exitCode = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { exitCode, errors };
}

describe("the workflows", () => {
  const files = globSync(".github/**/*.yml", { cwd: root });
  const texts = files.map((file) => ({ file, text: readFileSync(`${root}${file}`, "utf8") }));

  it("are YAML", () => {
    expect(files.length).toBeGreaterThan(6);
    for (const { text } of texts) expect(loadAll(text)).toHaveLength(1);
  });

  it("run only existing scripts and files", () => {
    const missing = texts.flatMap(({ file, text }) => [
      ...[...text.matchAll(/npm run (?:-s )?([\w:-]+)/g)]
        .filter(([, script = ""]) => scripts[script] === undefined)
        .map(([command]) => `${file}: ${command}`),
      ...[...text.matchAll(/node ((?:scripts|test)\/\S+)/g)]
        .filter(([, path = ""]) => globSync(path, { cwd: root }).length === 0)
        .map(([command]) => `${file}: ${command}`),
    ]);
    expect(missing).toEqual([]);
  });

  it("have a required job that waits for all other jobs of the workflow Check", () => {
    const [{ jobs }] = loadAll(readFileSync(`${root}.github/workflows/check.yml`, "utf8")) as [
      { jobs: Record<string, { needs?: string[] }> },
    ];
    const { check, ...others } = jobs;
    expect(check?.needs?.toSorted()).toEqual(Object.keys(others).toSorted());
  });

  it("have no more rights than they need, and a time limit for each job", () => {
    for (const file of globSync(".github/workflows/*.yml", { cwd: root })) {
      const [{ permissions, jobs }] = loadAll(readFileSync(`${root}${file}`, "utf8")) as [
        { permissions: object; jobs: Record<string, { "timeout-minutes"?: number }> },
      ];
      expect({ file, permissions }).toEqual({
        file,
        permissions: { contents: "read" },
      });
      for (const [job, { "timeout-minutes": limit }] of Object.entries(jobs))
        expect({ file, job, limit }).toEqual({ file, job, limit: expect.any(Number) as number });
    }
  });
});

describe("Dependabot", () => {
  const [{ updates }] = loadAll(readFileSync(`${root}.github/dependabot.yml`, "utf8")) as [
    { updates: { "package-ecosystem": string; directories?: string[] }[] },
  ];

  it.each([
    ["npm", "package.json"],
    ["pip", "requirements*.txt"],
    ["gomod", "go.mod"],
  ])("updates each folder with a manifest of %s", (ecosystem, manifest) => {
    const { stdout } = spawnSync("git", ["ls-files", "--", `:(glob)**/${manifest}`], {
      cwd: root,
      encoding: "utf8",
    });
    const folders = stdout
      .trim()
      .split("\n")
      .map((file) => posix.join("/", dirname(file)));
    const patterns = updates
      .filter((update) => update["package-ecosystem"] === ecosystem)
      .flatMap(({ directories = [] }) => directories);
    expect(folders.length).toBeGreaterThan(3);
    const isCovered = (folder: string): boolean =>
      patterns.some((pattern) => posix.matchesGlob(folder, pattern));
    expect(folders.filter((folder) => !isCovered(folder))).toEqual([]);
    expect(
      patterns.filter((pattern) => !folders.some((folder) => posix.matchesGlob(folder, pattern))),
    ).toEqual([]);
  });
});

describe("the format of changesets", () => {
  it("is the text of the author as a list item", () => {
    const script = `require("./.changeset/changelog.cjs").getReleaseLine({ summary: "First.\\n\\nSecond.\\n" }).then(console.log)`;
    const { stdout } = spawnSync(process.execPath, ["--eval", script], { cwd: root, encoding: "utf8" });
    expect(stdout).toBe("- First.\n\n  Second.\n");
  });
});
