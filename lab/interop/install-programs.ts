import { spawn, spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const repositoryRoot: string = fileURLToPath(new URL("../..", import.meta.url));
const cacheFolder = join(repositoryRoot, "node_modules/.cache/colloquy-interop");

/** Result of an installation: the path of a program, or the reason why the installation is impossible. */
export type Installation = { readonly program: string } | { readonly reason: string };

/** Installs the packages of a requirements file into a virtual environment, once for each version of the file. */
export async function installPythonPackages(
  name: string,
  requirements: string,
  report: (line: string) => void,
): Promise<Installation> {
  if (!canRunProgram("python3", "-c", "import sys, venv; sys.exit(sys.version_info < (3, 10))")) {
    return { reason: "there is no Python 3.10 or newer with venv (python3)" };
  }
  const folder = join(cacheFolder, name);
  const program = join(folder, process.platform === "win32" ? "Scripts/python.exe" : "bin/python");
  const isDone = await installOnce(folder, readFileSync(requirements, "utf8"), async () => {
    report(`Installing the Python packages of ${name} (minutes) …`);
    const pip = ["-m", "pip", "install", "--quiet", "-r", requirements];
    return (
      (await runInstallationProgram("python3", "-m", "venv", folder)) &&
      (await runInstallationProgram(program, ...pip))
    );
  });
  return isDone ? { program } : { reason: "its packages could not be installed; what pip said is above" };
}

/** Installs npm packages into a folder of their own, once for each version of the `package.json`. */
export async function installNpmPackages(
  name: string,
  packageJson: string,
  report: (line: string) => void,
): Promise<{ readonly folder: string } | { readonly reason: string }> {
  const folder = join(cacheFolder, name);
  const content = readFileSync(packageJson, "utf8");
  const isDone = await installOnce(folder, content, async () => {
    report(`Installing the npm packages of ${name} (a minute) …`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), content);
    return runInstallationProgram("npm", "install", "--prefix", folder, "--ignore-scripts", "--silent");
  });
  return isDone ? { folder } : { reason: "its packages could not be installed; what npm said is above" };
}

/** Copies the jars of a `pom.xml` into a folder, once for each version of the file. */
export async function installMavenPackages(
  name: string,
  pom: string,
  report: (line: string) => void,
): Promise<{ readonly folder: string } | { readonly reason: string }> {
  if (!canRunProgram("mvn", "-v")) return { reason: "there is no Maven (mvn)" };
  const folder = join(cacheFolder, name);
  const isDone = await installOnce(folder, readFileSync(pom, "utf8"), async () => {
    report(`Installing the Maven packages of ${name} (a minute) …`);
    const goal = ["dependency:copy-dependencies", `-DoutputDirectory=${folder}`];
    return runInstallationProgram("mvn", "--quiet", "--batch-mode", "--file", pom, ...goal);
  });
  return isDone ? { folder } : { reason: "its packages could not be installed; what Maven said is above" };
}

/** Builds a Quarkus application into a folder, once for each version of its sources. The program is a jar. */
export async function buildQuarkusProgram(
  name: string,
  home: string,
  report: (line: string) => void,
): Promise<Installation> {
  if (!canRunProgram("mvn", "-v")) return { reason: "there is no Maven (mvn)" };
  const folder = join(cacheFolder, name);
  const sources = ["pom.xml", ...globSync("src/**/*.*", { cwd: home }).toSorted()];
  const content = sources.map((file) => readFileSync(join(home, file), "utf8")).join("\n");
  const isDone = await installOnce(folder, content, async () => {
    report(`Building ${name} (minutes the first time) …`);
    mkdirSync(folder, { recursive: true });
    const file = join(home, "pom.xml");
    const goal = [`-DbuildFolder=${folder}`, "package"];
    return runInstallationProgram("mvn", "--quiet", "--batch-mode", "--file", file, ...goal);
  });
  return isDone
    ? { program: join(folder, "quarkus-app/quarkus-run.jar") }
    : { reason: "it could not be built; what Maven said is above" };
}

/** Builds a Go program. Go caches the result itself. */
export async function buildGoProgram(
  name: string,
  home: string,
  report: (line: string) => void,
): Promise<Installation> {
  if (!canRunProgram("go", "version")) return { reason: "there is no Go (go)" };
  mkdirSync(cacheFolder, { recursive: true });
  const program = join(cacheFolder, `interop-${name}`);
  report(`Building ${name} (several minutes the first time) …`);
  // The 1.0 and 0.3 modules define protobuf messages with the same names. By default, the Go runtime exits
  // on such a conflict.
  const allowed = "-ldflags=-X google.golang.org/protobuf/reflect/protoregistry.conflictPolicy=ignore";
  return (await runInstallationProgram("go", "build", "-C", home, "-o", program, allowed, "."))
    ? { program }
    : { reason: "it could not be built; what go said is above" };
}

/** Installs again only if the version list differs from the list of the last successful installation. */
async function installOnce(
  folder: string,
  versions: string,
  install: () => Promise<boolean>,
): Promise<boolean> {
  const mark = join(folder, "installed.txt");
  if (existsSync(mark) && readFileSync(mark, "utf8") === versions) return true;
  if (!(await install())) return false;
  writeFileSync(mark, versions);
  return true;
}

export function canRunProgram(program: string, ...args: string[]): boolean {
  return spawnSync(program, args, { stdio: "ignore" }).status === 0;
}

/**
 * Resolves with `true` if the program succeeded. Its output goes to stderr, because stdout may be
 * machine-readable.
 */
export function runInstallationProgram(program: string, ...args: string[]): Promise<boolean> {
  const child = spawn(program, args, { stdio: ["ignore", 2, 2] });
  return new Promise((done) => {
    child.once("error", () => done(false)).once("exit", (code) => done(code === 0));
  });
}

/** Reads the name and version of a pinned package from a file of requirements. */
export function readPinnedVersion(file: string, pattern: RegExp): string {
  const [, name, version] = pattern.exec(readFileSync(file, "utf8")) ?? [];
  return `${name} ${version}`;
}
