/** Runs the server that the attack `argv[2]` attacks. Without an argument, runs the idle control server. */
import { serveParentProcessCalls } from "../../bench/child-process-rpc.ts";
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
  /** Starts to measure the longest time for which the event loop is busy. */
  startStallMeasurement(): void;
  /** Returns the CPU time in milliseconds of the longest turn of the event loop. */
  endStallMeasurement(): number;
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
    ...(options.observer === false ? undefined : options.observer),
    onError: ({ where, error }) => faults.record(`error of the server in ${where}`, error),
  },
});
const address = await server.listen(listen);

/** Time between two measurements. A busy event loop runs the timer late. */
const STALL_TICK_MS = 5;
let longestTurnMs = 0;
let stallTimer: NodeJS.Timeout | undefined;

serveParentProcessCalls({
  getAddresses: () => ({
    host: address.host,
    port: address.port,
    ...(address.grpc ? { grpc: address.grpc } : {}),
    agentUrls: Object.fromEntries(address.agents.map(({ id, url }) => [id, url])),
  }),
  collectGarbage: () => globalThis.gc?.(),
  startStallMeasurement() {
    longestTurnMs = 0;
    let before = process.threadCpuUsage();
    stallTimer = setInterval(() => {
      const { user, system } = process.threadCpuUsage(before);
      before = process.threadCpuUsage();
      longestTurnMs = Math.max(longestTurnMs, (user + system) / 1000);
    }, STALL_TICK_MS);
  },
  endStallMeasurement() {
    clearInterval(stallTimer);
    return longestTurnMs;
  },
  takeFaults: () => faults.take(),
} satisfies AttackedServerMethods);
