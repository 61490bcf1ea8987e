import { join } from "node:path";
import { ADK_PEERS } from "../adk/adk-peers.ts";
import { readPinnedVersion, repositoryRoot } from "../install-programs.ts";
import { SDK_PEERS, type ProgramCommand } from "../sdk-peers.ts";

/** A server of another project that the console uses. */
export interface ConsolePeer {
  readonly name: string;
  readonly sdk: string;
  /** The agent of the server: the test agent of the SDKs, or the scripted agent of the ADKs. */
  readonly agent: "text-driven" | "scripted";
  /** Installs the server. Resolves with its command, or with the reason as text if that is impossible. */
  installServer(report: (line: string) => void): Promise<ProgramCommand | string>;
}

const SDK_CONSOLE_PEERS = SDK_PEERS.map((peer): ConsolePeer => ({
  name: `console-${peer.name}`,
  sdk: peer.sdk,
  agent: "text-driven",
  async installServer(report) {
    // Vitest starts the server of the JavaScript SDK itself, so the peer has no command for the server.
    if (peer.name === "js-sdk")
      return [process.execPath, join(repositoryRoot, "lab/interop/programs/js/server.ts")];
    const programs = await peer.installPrograms(report);
    return typeof programs === "string" ? programs : (programs.server ?? "it has no server");
  },
}));

const jsSdk03 = readPinnedVersion(
  join(repositoryRoot, "node_modules/a2a-js-sdk-0.3/package.json"),
  /()"version": "(.+)"/,
);

/** The last release of the JavaScript SDK with 0.3 only. */
const JS_SDK_0_3_CONSOLE_PEER: ConsolePeer = {
  name: "console-js-sdk-0.3",
  sdk: `@a2a-js/sdk${jsSdk03}`,
  agent: "text-driven",
  installServer: () =>
    Promise.resolve([process.execPath, join(repositoryRoot, "lab/interop/programs/js/server-0.3.ts")]),
};

const ADK_CONSOLE_PEERS = ADK_PEERS.map((peer): ConsolePeer => ({
  name: `console-${peer.name}`,
  sdk: peer.sdk,
  agent: "scripted",
  async installServer(report) {
    const program = await peer.installProgram(report);
    return typeof program === "string" ? program : [...program, "server"];
  },
}));

/** The servers of the official SDKs and of the ADKs. */
export const CONSOLE_PEERS: readonly ConsolePeer[] = [
  ...SDK_CONSOLE_PEERS,
  JS_SDK_0_3_CONSOLE_PEER,
  ...ADK_CONSOLE_PEERS,
];

/** The same servers, which a browser uses on the page of the console. */
export const PAGE_PEERS: readonly ConsolePeer[] = CONSOLE_PEERS.map((peer) => ({
  ...peer,
  name: peer.name.replace("console-", "page-"),
}));
