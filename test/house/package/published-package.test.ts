import { existsSync, globSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { listRelativeLinks, makeLinksAbsolute } from "../../../lab/package/absolute-links.ts";
import { findLicenseProblems } from "../../../lab/package/license-problems.ts";
import { createPublishedManifest, findRepositoryUrl } from "../../../lab/package/published-manifest.ts";
import { findUnpublishedLinks } from "../../../lab/package/published-files.ts";
import { findReleaseNotes } from "../../../lab/package/release-notes.ts";
import { addBundledComponents, type Sbom } from "../../../lab/package/sbom.ts";
import { findCountedTypeErrors } from "../../../lab/package/type-errors.ts";
import {
  isDistributable,
  readBundledPackage,
  renderThirdPartyNotices,
} from "../../../lab/package/third-party-notices.ts";

async function writeFiles(files: Record<string, string | object>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "colloquy-package-"));
  for (const [file, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), typeof content === "string" ? content : JSON.stringify(content));
  }
  return folder;
}

describe("the manifest of the published package", () => {
  it("names the files of its commands as npm publishes them, so that npm corrects nothing", () => {
    const { bin } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as {
      bin: Record<string, string>;
    };
    expect(bin).toEqual({ "a2a-colloquy": "bin/colloquy.js", colloquy: "bin/colloquy.js" });
  });

  it("requires one version of Node.js, which projects, messages, and pages repeat", () => {
    const files = globSync(
      ["{bin,lab/runtimes,scripts,skills,src,templates}/**/*.{js,json,md,mjs,ts}", "*.md", "docs/**/*.md"],
      { exclude: (path) => path.includes("node_modules") || path.endsWith(".test.ts") },
    );
    const mention =
      /\bNode(?:\.js)? ?(?:≥ )?(22\.\d+)|"?node"?: ">=(\d+(?:\.\d+)?)"|major === (22 && minor < \d+)/g;
    const mentions = ["package.json", ".github/workflows/check.yml", ...files].flatMap((file) =>
      [...readFileSync(file, "utf8").matchAll(mention)].map((match) => {
        const version = match.slice(1).find((group) => group !== undefined);
        return `${file}: ${version?.replace(" && minor < ", ".")}`;
      }),
    );
    expect(mentions).toContain("package.json: 22.18");
    expect(mentions).toContain("bin/colloquy.js: 22.18");
    expect(mentions).toContain("templates/adk/package.json: 22.18");
    expect(mentions.filter((text) => !text.endsWith(": 22.18"))).toEqual([]);
  });

  it("lacks what only matters in the repository, and names its commit, which a release compares", () => {
    const manifest = { name: "colloquy", private: true, scripts: { test: "x" }, devDependencies: { a: "1" } };
    expect(createPublishedManifest(manifest, "c0ffee")).toEqual({ name: "colloquy", gitHead: "c0ffee" });
    expect(createPublishedManifest(manifest)).toEqual({ name: "colloquy" });
  });

  it.each([
    [{ url: "git+https://github.com/ada/colloquy.git" }, "https://github.com/ada/colloquy"],
    [{ url: "https://github.com/ada/colloquy" }, undefined],
    [{ url: "git@github.com:ada/colloquy" }, undefined],
    [undefined, undefined],
  ])("with the repository %j has links to %s", (repository, expected) => {
    expect(findRepositoryUrl({ repository })).toBe(expected);
  });
});

describe("links in the published pages", () => {
  const options = { repository: "https://github.com/ada/colloquy", version: "1.2.3" };
  const rewrite = (markdown: string, file = "README.md"): string =>
    makeLinksAbsolute(markdown, file, options, (path) => path === "docs/extensions/a.schema.json");

  it.each([
    ["[a](docs/push.md#retries)", "[a](https://github.com/ada/colloquy/blob/v1.2.3/docs/push.md#retries)"],
    ["![a](docs/a.svg)", "![a](https://github.com/ada/colloquy/raw/v1.2.3/docs/a.svg)"],
    [`<img src="docs/a.png">`, `<img src="https://github.com/ada/colloquy/raw/v1.2.3/docs/a.png">`],
  ])("%s becomes absolute", (link, absolute) => {
    expect(rewrite(`See ${link}.`)).toBe(`See ${absolute}.`);
  });

  it("are relative to their page", () => {
    expect(rewrite("[a](../push.md)", "docs/extensions/a.md")).toBe(
      "[a](https://github.com/ada/colloquy/blob/v1.2.3/docs/push.md)",
    );
  });

  it.each([
    "[a](https://a2a-protocol.org)",
    "[a](#install)",
    "`[a](docs/push.md)`",
    "```md\n[a](docs/push.md)\n```",
  ])("%s stays", (markdown) => {
    expect(rewrite(markdown)).toBe(markdown);
  });

  it("lead to files of the repository", () => {
    const pages = globSync(["README.md", "CHANGELOG.md", "docs/extensions/*.md", "skills/**/*.md"]);
    const targets = pages.flatMap((page) => {
      const absolute = makeLinksAbsolute(readFileSync(page, "utf8"), page, options);
      expect(listRelativeLinks(absolute)).toEqual([]);
      return [...absolute.matchAll(/colloquy\/(?:blob|raw)\/v1\.2\.3\/([^)#"\s]+)/g)].map(
        ([, target = ""]) => target,
      );
    });
    expect(targets).toEqual(expect.arrayContaining(["README.ko.md", "README.zh.md", "docs/cards.md"]));
    expect(targets.filter((target) => !existsSync(target))).toEqual([]);
  });

  it("to files of the package stay", () => {
    const markdown = "[schema](a.schema.json)";
    expect(rewrite(markdown, "docs/extensions/a.md")).toBe(markdown);
  });
});

describe("the notices of bundled packages", () => {
  it("contain the license and the NOTICE of each package, and identical texts once", async () => {
    const folder = await writeFiles({
      "a/package.json": { name: "a", version: "1.0.0", license: "Apache-2.0" },
      "a/LICENSE": "Apache License",
      "a/NOTICE.txt": "Made by A.",
      "b/package.json": { name: "b", version: "2.0.0", license: "MIT" },
      "b/license.md": "MIT text\n",
      "c/package.json": { name: "c", version: "3.0.0", license: "MIT" },
      "c/LICENSE": "MIT text",
    });
    const packages = ["c", "a", "b"].map((name) => readBundledPackage(join(folder, name)));
    const line = "-".repeat(80);
    expect(renderThirdPartyNotices(packages, [{ title: "src/data.ts", text: "Data of D." }])).toBe(
      `Colloquy contains code and data of others. Their licenses and notices follow.\n\n` +
        `${line}\na 1.0.0 (Apache-2.0)\n\nApache License\n\nMade by A.\n\n` +
        `${line}\nb 2.0.0 (MIT)\nc 3.0.0 (MIT)\n\nMIT text\n\n` +
        `${line}\nsrc/data.ts\n\nData of D.\n`,
    );
  });

  it.each([
    [{ "package.json": { name: "a", version: "1.0.0", license: "GPL-3.0" }, LICENSE: "x" }, /GPL-3\.0/],
    [{ "package.json": { name: "a", version: "1.0.0", license: "MIT" } }, /no license file/],
  ])("cannot be made for %j", async (files, message) => {
    const folder = await writeFiles(files);
    expect(() => readBundledPackage(folder)).toThrow(message);
  });

  it.each([
    ["MIT", true],
    ["(MPL-2.0 OR Apache-2.0)", true],
    ["Apache-2.0 AND BSD-3-Clause", true],
    ["MPL-2.0", false],
    ["MIT AND GPL-3.0", false],
    ["UNLICENSED", false],
  ])("the license %s may be distributed: %s", (license, expected) => {
    expect(isDistributable(license)).toBe(expected);
  });
});

describe("the licenses in the lock file", () => {
  const find = (
    locked: Parameters<typeof findLicenseProblems>[0],
    distributed: readonly string[] = [],
  ): string[] => findLicenseProblems(locked, (path) => distributed.includes(path));

  it("of tools may ask for the publication of changes, unless our files contain the tool", () => {
    const packages = { "node_modules/axe": { version: "4.0.0", license: "MPL-2.0", dev: true } };
    expect(find(packages)).toEqual([]);
    expect(find(packages, ["node_modules/axe"])).toEqual([
      "axe 4.0.0 has the license MPL-2.0, which is only for tools.",
    ]);
  });

  it("of dependencies are permissive", () => {
    expect(find({ "node_modules/a": { version: "1.0.0", license: "MPL-2.0" } })).toHaveLength(1);
    expect(find({ "node_modules/a": { version: "1.0.0", license: "AGPL-3.0", dev: true } })).toHaveLength(1);
    expect(find({ "node_modules/b/node_modules/@s/a": { version: "1.0.0", dev: true } })).toEqual([
      "@s/a 1.0.0 has no license. Use another package.",
    ]);
  });

  it("of programs for other platforms are those of this platform", () => {
    const mac = { version: "1.0.0", dev: true, optional: true };
    const linux = { ...mac, license: "MIT" };
    expect(find({ "node_modules/@s/mac": mac, "node_modules/@s/linux": linux })).toEqual([]);
  });
});

describe("the development dependencies", () => {
  it("are at most 405 packages, including those of one platform", () => {
    const { packages } = JSON.parse(readFileSync("node_modules/.package-lock.json", "utf8")) as {
      packages: Record<string, object>;
    };
    expect(Object.keys(packages).length).toBeLessThanOrEqual(405);
  });

  it("occupy at most 600 MB", () => {
    // Folders with a leading dot contain caches and the packages of labs.
    const folders = readdirSync("node_modules").filter((name) => !name.startsWith("."));
    const sizes = folders.map((name) => countBytes(join("node_modules", name), new Set()));
    expect(sizes.reduce((sum, size) => sum + size, 0) / 2 ** 20).toBeLessThanOrEqual(600);
  });

  /** Returns the size of a folder's files. Hard links to the same file count once. */
  function countBytes(folder: string, seenFiles: Set<number>): number {
    return readdirSync(folder).reduce((sum, name) => {
      const path = join(folder, name);
      const status = lstatSync(path);
      if (status.isDirectory()) return sum + countBytes(path, seenFiles);
      if (status.nlink > 1 && seenFiles.has(status.ino)) return sum;
      seenFiles.add(status.ino);
      return sum + status.size;
    }, 0);
  }
});

describe("the files of the published package", () => {
  it("link only to each other and to the web", async () => {
    const folder = await writeFiles({
      "README.md": "[a](https://example.com) [b](docs/a.md#x) `[c](c.md)` [d](docs/b.md)",
      "docs/a.md": `[r](../README.md) <img src="a.svg"> [x](#x)`,
    });
    expect(findUnpublishedLinks(folder).toSorted()).toEqual([
      expect.stringContaining("README.md links to docs/b.md") as string,
      expect.stringContaining("docs/a.md links to a.svg") as string,
    ]);
  });
});

describe("the release notes", () => {
  const changelog =
    "# Changelog\n\n## 0.2.0\n\n- New.\n\n### More\n\n- Other.\n\n## 0.1.0 (unreleased)\n\n- Old.\n";

  it("are the section of the version", () => {
    expect(findReleaseNotes(changelog, "0.2.0")).toBe("- New.\n\n### More\n\n- Other.\n");
    expect(findReleaseNotes(changelog, "0.1.0")).toBe("- Old.\n");
    expect(() => findReleaseNotes(changelog, "0.3.0")).toThrow(/0\.3\.0/);
  });
});

describe("the check of the types", () => {
  it("covers each entry", () => {
    const { exports } = JSON.parse(readFileSync("package.json", "utf8")) as { exports: object };
    const entries = Object.keys(exports).filter((entry) => entry !== "./package.json");
    const programs = ["every-entry-point.ts", "peers/every-peer-entry-point.ts"];
    const imports = programs.flatMap((program) =>
      [...readFileSync(`test/interop/user/${program}`, "utf8").matchAll(/from "colloquy(.*)";/g)].map(
        ([, entry]) => `.${entry}`,
      ),
    );
    // `npm run lab -- examples` compiles examples/21-openai-agents with the types of the SDK.
    expect([...imports, "./openai-agents"].toSorted()).toEqual(entries.toSorted());
  });

  it("ignores errors in the types of ADK, and no others", () => {
    const own = "dist/entries/adk.d.ts(1,1): error TS2307: Cannot find module 'x'.";
    const adk = "node_modules/@google/adk/dist/a.d.ts(6,37): error TS2307: Cannot find module 'y'.";
    expect(findCountedTypeErrors(`${adk}\n${own}\n`)).toEqual([own]);
    expect(findCountedTypeErrors(`${adk}\n`)).toEqual([]);
    expect(findCountedTypeErrors("Killed")).toEqual(["The compiler failed: Killed"]);
  });
});

describe("the SBOM", () => {
  it("contains the packages that npm installs, and those in our files", () => {
    const [a, b, c] = ["a", "b", "c"].map((name) => ({ "bom-ref": name, name, version: "1.0.0" }));
    if (!a || !b || !c) throw new Error("unreachable");
    const metadata = { component: { "bom-ref": "colloquy", name: "colloquy", version: "1.0.0" } };
    const installed: Sbom = { metadata, components: [a], dependencies: [] };
    const all: Sbom = { metadata, components: [a, b, c], dependencies: [] };
    const properties = [{ name: "colloquy:bundled", value: "true" }];
    expect(addBundledComponents(installed, all, [a, c]).components).toEqual([a, { ...c, properties }]);
    expect(() => addBundledComponents(installed, all, [{ name: "a", version: "2.0.0" }])).toThrow(
      /a 2\.0\.0/,
    );
  });
});
