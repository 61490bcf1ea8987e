import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  installMavenPackages,
  installNpmPackages,
  installPythonPackages,
  readPinnedVersion,
  repositoryRoot,
} from "../install-programs.ts";
import type { ProgramCommand } from "../sdk-peers.ts";

/** A framework with its own A2A client or server, installed and ready to run. */
export interface FrameworkCommands {
  /** Calls our server and prints one outcome per line. Arguments: URL, secured URL, and bearer token. */
  readonly client?: ProgramCommand;
  /** Prints `{"url":…}` and exits when its stdin closes. */
  readonly server?: ProgramCommand;
}

export interface FrameworkPeer {
  readonly name: string;
  readonly sdk: string;
  /** Resolves with the reason as text if the installation is impossible. */
  installPrograms(report: (line: string) => void): Promise<FrameworkCommands | string>;
}

const home = join(repositoryRoot, "lab/interop/programs/frameworks");

function defineNpmPeer(name: string, packageName: string, hasServer = false): FrameworkPeer {
  const file = join(home, name, "package.json");
  const { dependencies } = JSON.parse(readFileSync(file, "utf8")) as { dependencies: Record<string, string> };
  return {
    name,
    sdk: `${packageName} ${dependencies[packageName]}`,
    async installPrograms(report) {
      const installed = await installNpmPackages(name, file, report);
      if ("reason" in installed) return installed.reason;
      return {
        client: [process.execPath, join(home, name, "client.ts"), installed.folder],
        ...(hasServer && {
          server: [process.execPath, join(home, name, "server.ts"), installed.folder] as const,
        }),
      };
    },
  };
}

function definePythonPeer(name: string, pattern: RegExp, hasClient = true): FrameworkPeer {
  const requirements = join(home, name, "requirements.txt");
  return {
    name,
    sdk: readPinnedVersion(requirements, pattern),
    async installPrograms(report) {
      const python = await installPythonPackages(name, requirements, report);
      if ("reason" in python) return python.reason;
      return {
        ...(hasClient && { client: [python.program, join(home, name, "client.py")] as const }),
        server: [python.program, join(home, name, "server.py")],
      };
    },
  };
}

function defineJavaPeer(name: string): FrameworkPeer {
  const pom = join(home, name, "pom.xml");
  const pattern = /<artifactId>(a2a-java-sdk)-client<\/artifactId>\s*<version>(.+)<\/version>/;
  return {
    name,
    sdk: readPinnedVersion(pom, pattern),
    async installPrograms(report) {
      const jars = await installMavenPackages(name, pom, report);
      if ("reason" in jars) return jars.reason;
      return { client: ["java", "-cp", join(jars.folder, "*"), join(home, name, "JavaSdkClient.java")] };
    },
  };
}

export const FRAMEWORK_PEERS: readonly FrameworkPeer[] = [
  defineJavaPeer("java"),
  defineJavaPeer("java-1.2"),
  defineNpmPeer("mastra", "@mastra/core", true),
  defineNpmPeer("ag-ui", "@ag-ui/a2a"),
  definePythonPeer("strands", /^(strands-agents)\S*?==(\S+)/m),
  definePythonPeer("fasta2a", /^(fasta2a)\S*?==(\S+)/m),
  definePythonPeer("pydantic-ai", /^(pydantic-ai)\S*?==(\S+)/m, false),
];
