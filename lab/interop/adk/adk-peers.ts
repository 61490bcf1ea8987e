import { createRequire } from "node:module";
import { join } from "node:path";
import {
  buildGoProgram,
  installPythonPackages,
  readPinnedVersion,
  repositoryRoot,
} from "../install-programs.ts";
import type { ProgramCommand } from "../sdk-peers.ts";

/** A release of ADK with a program that serves the scripted agent and runs scenarios. */
export interface AdkPeer {
  readonly name: string;
  readonly sdk: string;
  /**
   * Installs ADK once. Resolves with the command of the peer program, or with the reason as text if the
   * installation is impossible.
   */
  installProgram(report: (line: string) => void): Promise<ProgramCommand | string>;
  /** The A2A SDK on which this ADK is built. The test agent of the SDK is the peer's own generator. */
  readonly a2aSdk?: { readonly name: string; readonly serverArguments: readonly string[] };
}

const home = join(repositoryRoot, "lab/interop/programs/adk");

/** The peer program of ADK for JavaScript, which also contains our `RemoteAgent`. */
export const JS_PROGRAM: ProgramCommand = [process.execPath, join(home, "js/main.ts")];

function definePythonAdkPeer(name: string, file: string): AdkPeer {
  const requirements = join(home, "python", file);
  return {
    name,
    sdk: readPinnedVersion(requirements, /^(google-adk)\S*?==(\S+)/m),
    a2aSdk: { name: "python", serverArguments: ["--json-rpc"] },
    async installProgram(report) {
      const python = await installPythonPackages(name, requirements, report);
      return "reason" in python ? python.reason : [python.program, join(home, "python/main.py")];
    },
  };
}

const jsVersion = (createRequire(import.meta.url)("@google/adk/package.json") as { version: string }).version;

export const ADK_PEERS: readonly AdkPeer[] = [
  definePythonAdkPeer("adk-python", "requirements.txt"),
  definePythonAdkPeer("adk-python-2.6", "requirements-2.6.txt"),
  {
    name: "adk-go",
    a2aSdk: { name: "go", serverArguments: [] },
    sdk: readPinnedVersion(join(home, "go/go.mod"), /google\.golang\.org\/(adk)\/v2 v(\S+)/).replace(
      "adk",
      "adk-go",
    ),
    async installProgram(report) {
      const built = await buildGoProgram("adk-go", join(home, "go"), report);
      return "reason" in built ? built.reason : [built.program, join(home, "scripted-agent.json")];
    },
  },
  {
    name: "adk-js",
    sdk: `@google/adk ${jsVersion}`,
    installProgram: () => Promise.resolve(JS_PROGRAM),
  },
];
