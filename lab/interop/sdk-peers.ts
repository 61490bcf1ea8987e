import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  buildGoProgram,
  buildQuarkusProgram,
  installPythonPackages,
  readPinnedVersion,
  repositoryRoot,
} from "./install-programs.ts";
import type { ProtocolVariant } from "./protocol-variants.ts";

export type ProgramCommand = readonly [program: string, ...args: string[]];

/** An official SDK in another language, installed and ready to run. */
export interface PeerServerAndClientCommands {
  /** A test agent that prints `{"url":…}` and exits when its stdin closes. */
  readonly server?: ProgramCommand;
  /** A client that prints one outcome per line. The harness appends the URL of a secured server and its token. */
  createClientCommand?(url: string, variant: ProtocolVariant): ProgramCommand;
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
  const home = join(repositoryRoot, "lab/interop/programs/python");
  const requirements = join(home, files.requirements);
  return {
    name,
    sdk: readPinnedVersion(requirements, /^(a2a-sdk)\S*?==(\S+)/m),
    supports: speaks,
    async installPrograms(report) {
      const python = await installPythonPackages(name, requirements, report);
      if ("reason" in python) return python.reason;
      const client = [python.program, join(home, files.client)] as const;
      return {
        server: [python.program, join(home, files.server)],
        createClientCommand: (url, { binding, version }) => [...client, url, binding, version],
      };
    },
  };
}

/** Defines a release of Go's SDK, with test programs for its API. */
function defineGoPeer(name: string, speaks: SdkPeer["supports"]): SdkPeer {
  const home = join(repositoryRoot, "lab/interop/programs", name);
  return {
    name,
    sdk: readPinnedVersion(join(home, "go.mod"), /(a2a-go)(?:\/v2)? v(\S+)/),
    supports: speaks,
    async installPrograms(report) {
      const built = await buildGoProgram(name, home, report);
      if ("reason" in built) return built.reason;
      return {
        server: [built.program, "server"],
        createClientCommand: (url, { binding, version }) => [built.program, "client", url, binding, version],
      };
    },
  };
}

/** Defines the reference server of a release of Java's SDK. */
function defineJavaPeer(name: string, speaks: SdkPeer["supports"]): SdkPeer {
  const home = join(repositoryRoot, "lab/interop/programs", name);
  const pattern = /<artifactId>(a2a-java-sdk)-reference-jsonrpc<\/artifactId>\s*<version>(.+)<\/version>/;
  return {
    name,
    sdk: readPinnedVersion(join(home, "pom.xml"), pattern),
    supports: speaks,
    async installPrograms(report) {
      const built = await buildQuarkusProgram(name, home, report);
      return "reason" in built ? built.reason : { server: ["java", "-jar", built.program] };
    },
  };
}

const supportsAllProtocolVariants = (): boolean => true;

const jsSdkPackage = join(repositoryRoot, "node_modules/@a2a-js/sdk/package.json");
const jsSdk = JSON.parse(readFileSync(jsSdkPackage, "utf8")) as { version: string };

/** The client of the JavaScript SDK. Vitest tests its server (`test/interop/a2a-js*.test.ts`). */
const jsPeer: SdkPeer = {
  name: "js-sdk",
  sdk: `@a2a-js/sdk ${jsSdk.version}`,
  supports: ({ version }) => version === "1.0",
  installPrograms: () =>
    Promise.resolve({
      createClientCommand: (url, { binding, version }) => [
        process.execPath,
        join(repositoryRoot, "lab/interop/programs/js/client.ts"),
        url,
        binding,
        version,
      ],
    }),
};

/**
 * For each language, the latest release, which supports both versions, and the last release with 0.3 only,
 * which is still widely used.
 */
export const SDK_PEERS: readonly SdkPeer[] = [
  jsPeer,
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
  // The registry has no gRPC server of release 0.3.3.
  defineJavaPeer("java-0.3", ({ version, binding }) => version === "0.3" && binding !== "GRPC"),
];
