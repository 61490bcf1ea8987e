import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { defineRules, fail, warn, type Check } from "../../studio/judge/index.ts";
import { getPackageFolder } from "../package-version.ts";
import type { Project } from "./project.ts";
import { satisfiesRange } from "./satisfies-range.ts";

/** Checks of Node.js and of the installed packages. */
export const INSTALL_CHECKS: readonly Check<Project>[] = defineRules<Project, string>({
  "PROJECT-NODE"({ folder }) {
    for (const owner of [getPackageFolder(), folder]) {
      const { name = owner, engines } = readPackageJson(owner);
      if (engines?.["node"] !== undefined && !satisfiesRange(process.versions.node, engines["node"]))
        fail(`Node.js ${process.versions.node} is not in ${engines["node"]}, which ${name} requires.`);
    }
    return `Node.js ${process.versions.node}.`;
  },
  "PROJECT-PEERS"(project) {
    const peers = listPeers(project);
    const wrong = peers.filter(({ version, range }) => !satisfiesRange(version, range));
    if (wrong.length > 0)
      fail(wrong.map(({ name, version, range }) => `${name} ${version} is not in ${range}.`).join(" "));
    return `${peers.map(({ name, version }) => `${name} ${version}`).join(", ") || "None of them is installed"}.`;
  },
  "PROJECT-COPIES"(project) {
    const peers = listPeers(project);
    const doubled = peers.flatMap(({ name, folder }) => {
      const other = findPackage(project.folder, name);
      return other === undefined || other === folder ? [] : [`${name} is in ${folder} and in ${other}.`];
    });
    if (doubled.length > 0) fail(doubled.join(" "));
    const own = realpathSync(getPackageFolder());
    const installed = findPackage(project.folder, "colloquy") ?? own;
    if (installed !== own) warn(`The project uses Colloquy in ${installed}, and this command is in ${own}.`);
    return `Colloquy and ${peers.length} packages have one copy.`;
  },
});

/** Lists the installed peers as the copy of Colloquy of the project sees them. */
function listPeers({ folder }: Project): Record<"name" | "range" | "version" | "folder", string>[] {
  const colloquy = findPackage(folder, "colloquy") ?? getPackageFolder();
  return Object.entries(readPackageJson(colloquy).peerDependencies ?? {}).flatMap(([name, range]) => {
    const found = findPackage(colloquy, name);
    return found === undefined
      ? []
      : [{ name, range, folder: found, version: readPackageJson(found).version ?? "0" }];
  });
}

/** Finds a package as Node.js does from a folder. */
function findPackage(from: string, name: string): string | undefined {
  const folder = join(from, "node_modules", name);
  if (existsSync(join(folder, "package.json"))) return realpathSync(folder);
  return dirname(from) === from ? undefined : findPackage(dirname(from), name);
}

type PackageJson = Partial<
  Record<"name" | "version", string> & Record<"engines" | "peerDependencies", Record<string, string>>
>;

function readPackageJson(folder: string): PackageJson {
  const file = join(folder, "package.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as PackageJson) : {};
}
