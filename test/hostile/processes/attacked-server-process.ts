/** Runs the server that the attack `argv[2]` attacks. Without an argument, runs the idle control server. */
import { serveParentProcessCalls } from "../../../bench/child-process-rpc.ts";
import { createServer } from "../../../src/server/index.ts";
import { resolveAttackedServer } from "../attacked-server.ts";
import { loadAttack } from "./load-attack.ts";
import { ProcessFaultRecorder } from "./process-faults.ts";

/** The addresses of an attacked server. */
export interface AttackedServerAddresses {
  readonly host: string;
  readonly port: number;
  readonly grpc?: { readonly host: string; readonly port: number };
  readonly agentUrls: Readonly<Record<string, string>>;
}

export type AttackedServerMethods = {
  getAddresses(): AttackedServerAddresses;
  /** Collects garbage, so that memory measurements start from the same state. */
  collectGarbage(): void;
  /** Returns unhandled errors of the process and reported errors of the server since the last call. */
  takeFaults(): string[];
};

const [, , attackName] = process.argv;
const faults = new ProcessFaultRecorder();
const setup = attackName ? await (await loadAttack(attackName, "server")).setUpServer?.() : undefined;
const { agents, options, listen } = resolveAttackedServer(setup ?? {});
const server = createServer(agents, {
  ...options,
  observer: {
    ...(options.observer || {}),
    onError: ({ where, error }) => faults.record(`error of the server in ${where}`, error),
  },
});
const address = await server.listen(listen);

serveParentProcessCalls({
  getAddresses: () => ({
    host: address.host,
    port: address.port,
    ...(address.grpc ? { grpc: address.grpc } : {}),
    agentUrls: Object.fromEntries(address.agents.map(({ id, url }) => [id, url])),
  }),
  collectGarbage: () => globalThis.gc?.(),
  takeFaults: () => faults.take(),
} satisfies AttackedServerMethods);
