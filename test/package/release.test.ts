import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { loadAll } from "js-yaml";
import { describe, expect, it } from "vitest";
import { listReleaseProblems, type ReleaseState } from "../../scripts/release/release-problems.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { scripts } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as {
  scripts: Record<string, string>;
};

describe("a release", () => {
  const ready: ReleaseState = {
    version: "0.2.0",
    publisherProblems: [],
    builtVersion: "0.2.0",
    hasLinks: true,
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
    [{ publisherProblems: ["publisher.json: no author"] }, /no author/],
    [{ builtVersion: "0.1.0" }, /run npm run package/],
    [{ hasLinks: false }, /publisher\.json/],
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

describe("the format of changesets", () => {
  it("is the text of the author as a list item", () => {
    const script = `require("./.changeset/changelog.cjs").getReleaseLine({ summary: "First.\\n\\nSecond.\\n" }).then(console.log)`;
    const { stdout } = spawnSync(process.execPath, ["--eval", script], { cwd: root, encoding: "utf8" });
    expect(stdout).toBe("- First.\n\n  Second.\n");
  });
});
