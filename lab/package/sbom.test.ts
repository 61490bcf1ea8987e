import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { createSbom, selectInstalledComponents, type Sbom, type SbomManifest } from "./sbom.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const manifest = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as SbomManifest;
const { packages } = JSON.parse(readFileSync(`${root}package-lock.json`, "utf8")) as {
  packages: Record<string, { version: string }>;
};

function runNpm(args: readonly string[]): string {
  return execFileSync("npm", args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
    stdio: ["ignore", "pipe", "ignore"],
    shell: process.platform === "win32",
  });
}

describe("the SBOM of npm's output", () => {
  const { version = "" } = packages["node_modules/preact"] ?? {};
  const sbom = createSbom(runNpm, manifest, [{ name: "preact", version }]);
  const rootRef = `${manifest.name}@${manifest.version}`;

  it("contains each runtime dependency in its locked version, and the bundled packages", () => {
    const listed = sbom.components.map((component) => `${component.name}@${component.version}`);
    const runtime = Object.keys(manifest.dependencies).map(
      (name) => `${name}@${packages[`node_modules/${name}`]?.version}`,
    );
    expect(runtime).toEqual(expect.arrayContaining([expect.stringMatching(/^jose@\d/)]));
    expect(listed).toEqual(expect.arrayContaining([...runtime, `preact@${version}`]));
    expect(sbom.dependencies.find(({ ref }) => ref === rootRef)?.dependsOn).toEqual(runtime);
  });

  it("contains no development dependency", () => {
    const names = new Set(sbom.components.map(({ name }) => name));
    for (const name of ["vitest", "typescript", "@google/adk"]) expect(names.has(name)).toBe(false);
    const refs = new Set(["", rootRef, ...sbom.components.map((component) => component["bom-ref"])]);
    for (const { ref, dependsOn } of sbom.dependencies)
      expect([ref, ...dependsOn].filter((each) => !refs.has(each))).toEqual([]);
  });

  it("describes the published package, not the folder of the repository", () => {
    const { component } = sbom.metadata;
    expect(component).toMatchObject({ "bom-ref": rootRef, name: manifest.name, version: manifest.version });
    expect(JSON.stringify(component)).not.toContain("private");
  });
});

describe("the SBOM", () => {
  const component = (name: string): Sbom["components"][number] => ({
    "bom-ref": `${name}@1.0.0`,
    name,
    version: "1.0.0",
  });
  const all: Sbom = {
    metadata: { component: component("folder") },
    components: ["a", "b", "c", "dev"].map(component),
    dependencies: [
      { ref: "folder@1.0.0", dependsOn: ["a@1.0.0", "dev@1.0.0"] },
      { ref: "a@1.0.0", dependsOn: ["b@1.0.0"] },
      { ref: "b@1.0.0", dependsOn: ["c@1.0.0", "a@1.0.0"] },
    ],
  };
  const published = { name: "colloquy", version: "2.0.0" };

  it("contains the dependencies of dependencies", () => {
    const installed = selectInstalledComponents(all, { ...published, dependencies: { a: "^1.0.0" } });
    expect(installed.components.map(({ name }) => name)).toEqual(["a", "b", "c"]);
    expect(installed.dependencies.map(({ ref }) => ref)).toEqual([
      "colloquy@2.0.0",
      "a@1.0.0",
      "b@1.0.0",
      "c@1.0.0",
    ]);
  });

  it("is not created without a dependency of the manifest", () => {
    expect(() => selectInstalledComponents(all, { ...published, dependencies: { c: "^1.0.0" } })).toThrow(
      "npm sbom does not list the dependency c.",
    );
  });
});
