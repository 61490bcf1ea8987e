import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ProtocolVariant } from "./protocol-variants.ts";

const repositoryRoot = fileURLToPath(new URL("../..", import.meta.url));
const cacheFolder = join(repositoryRoot, "node_modules/.cache/colloquy-interop");

export type ProgramCommand = readonly [program: string, ...args: string[]];

/** An official SDK in another language, installed and ready to run. */
export interface PeerServerAndClientCommands {
  /** A test agent that prints `{"url":…}` and exits when its stdin closes. */
  readonly server: ProgramCommand;
  /** A client that prints one outcome per line. */
  createClientCommand(url: string, variant: ProtocolVariant): ProgramCommand;
}

export interface SdkPeer {
  readonly name: string;
  readonly sdk: string;
  readonly supports: (variant: ProtocolVariant) => boolean;
  /**
   * Installs the SDK once in a folder of node_modules. Resolves with the reason as text if that is
   * impossible.
   */
  installPrograms(report: (line: string) => void): Promise<PeerServerAndClientCommands | string>;
}

interface PythonPeerFiles {
  readonly requirements: string;
  readonly server: string;
  readonly client: string;
}

/** Defines a release of Python's SDK, with test programs for its API. */
function definePythonPeer(name: string, speaks: SdkPeer["supports"], files: PythonPeerFiles): SdkPeer {
  const home = join(repositoryRoot, "test/interop/python");
  const requirements = join(home, files.requirements);
  return {
    name,
    sdk: readPinnedSdkVersion(requirements, /^(a2a-sdk)\S*?==(\S+)/m),
    supports: speaks,
    async installPrograms(report) {
      if (!canRunProgram("python3", "-c", "import sys, venv; sys.exit(sys.version_info < (3, 10))")) {
        return "there is no Python 3.10 or newer with venv (python3)";
      }
      const folder = join(cacheFolder, name);
      const versions = readFileSync(requirements, "utf8");
      const mark = join(folder, "installed.txt");
      if (!existsSync(mark) || readFileSync(mark, "utf8") !== versions) {
        report("Installing Python's SDK (about a minute) …");
        const pip = ["-m", "pip", "install", "--quiet", "-r", requirements];
        const isDone =
          (await runInstallationProgram("python3", "-m", "venv", folder)) &&
          (await runInstallationProgram(getPythonPath(folder), ...pip));
        if (!isDone) return "its packages could not be installed; what pip said is above";
        writeFileSync(mark, versions);
      }
      const client = [getPythonPath(folder), join(home, files.client)] as const;
      return {
        server: [getPythonPath(folder), join(home, files.server)],
        createClientCommand: (url, { binding, version }) => [...client, url, binding, version],
      };
    },
  };
}

/** Defines a release of Go's SDK, with test programs for its API. */
function defineGoPeer(name: string, speaks: SdkPeer["supports"]): SdkPeer {
  const home = join(repositoryRoot, "test/interop", name);
  return {
    name,
    sdk: readPinnedSdkVersion(join(home, "go.mod"), /(a2a-go)(?:\/v2)? v(\S+)/),
    supports: speaks,
    async installPrograms(report) {
      if (!canRunProgram("go", "version")) return "there is no Go (go)";
      mkdirSync(cacheFolder, { recursive: true });
      const binary = join(cacheFolder, `interop-${name}`);
      report("Building with Go's SDK (several minutes the first time) …");
      // The 1.0 and 0.3 modules define protobuf messages with the same names. By default, the Go runtime
      // exits on such a conflict.
      const allowed = "-ldflags=-X google.golang.org/protobuf/reflect/protoregistry.conflictPolicy=ignore";
      if (!(await runInstallationProgram("go", "build", "-C", home, "-o", binary, allowed, "."))) {
        return "it could not be built; what go said is above";
      }
      return {
        server: [binary, "server"],
        createClientCommand: (url, { binding, version }) => [binary, "client", url, binding, version],
      };
    },
  };
}

const supportsAllProtocolVariants = (): boolean => true;

/**
 * For each language, the latest release, which supports both versions, and the last release with 0.3 only,
 * which is still widely used.
 */
export const SDK_PEERS: readonly SdkPeer[] = [
  definePythonPeer("python", supportsAllProtocolVariants, {
    requirements: "requirements.txt",
    server: "server.py",
    client: "client.py",
  }),
  definePythonPeer("python-0.3", ({ version }) => version === "0.3", {
    requirements: "requirements-0.3.txt",
    server: "server_0_3.py",
    client: "client_0_3.py",
  }),
  defineGoPeer("go", supportsAllProtocolVariants),
  defineGoPeer("go-0.3", ({ version, binding }) => version === "0.3" && binding !== "HTTP+JSON"),
];

function getPythonPath(folder: string): string {
  return join(folder, process.platform === "win32" ? "Scripts/python.exe" : "bin/python");
}

function readPinnedSdkVersion(file: string, pattern: RegExp): string {
  const [, name, version] = pattern.exec(readFileSync(file, "utf8")) ?? [];
  return `${name} ${version}`;
}

function canRunProgram(program: string, ...args: string[]): boolean {
  return spawnSync(program, args, { stdio: "ignore" }).status === 0;
}

/**
 * Resolves with `true` if the program succeeded. Its output goes to stderr, because stdout may be
 * machine-readable.
 */
function runInstallationProgram(program: string, ...args: string[]): Promise<boolean> {
  const child = spawn(program, args, { stdio: ["ignore", 2, 2] });
  return new Promise((done) => {
    child.once("error", () => done(false)).once("exit", (code) => done(code === 0));
  });
}
