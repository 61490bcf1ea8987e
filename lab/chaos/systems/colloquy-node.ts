/** A node of a Colloquy cluster with scripted agents. Prints its reports as JSON lines, and ends with its stdin. */
import { createServer } from "../../../src/server/index.ts";
import { PostgresStore } from "../../../src/stores/index.ts";
import { AGENT_POLICIES, createScriptedAgent, readMonotonicMs } from "../scripted-agents.ts";
import type { ChaosNodeOptions, NodeReport } from "./chaos-system.ts";

const [database = "", optionsJson = "{}"] = process.argv.slice(2);
const options = JSON.parse(optionsJson) as ChaosNodeOptions;
const {
  leaseMs = 2000,
  hints = true,
  preparedStatements = true,
  clockOffsetMs = 0,
  port = 0,
  taskRetentionMs,
} = options;
if (clockOffsetMs !== 0) shiftWallClock(clockOffsetMs);

function printReport(report: NodeReport): void {
  process.stdout.write(`${JSON.stringify(report)}\n`);
}

function shiftWallClock(offsetMs: number): void {
  const RealDate = Date;
  globalThis.Date = class extends RealDate {
    constructor(...args: [] | [number | string | Date]) {
      super(...((args.length === 0 ? [RealDate.now() + offsetMs] : args) as [number]));
    }
    static override now(): number {
      return RealDate.now() + offsetMs;
    }
  } as DateConstructor;
}

const store = new PostgresStore(database, { leaseMs, hints, preparedStatements });
const server = createServer(
  Object.fromEntries(AGENT_POLICIES.map((policy) => [policy, createScriptedAgent(policy, printReport)])),
  {
    store,
    mergeChunks: false,
    authenticate: ({ header }) => ({ tenant: "", principal: header("x-caller") ?? "anonymous" }),
    push: { allowPrivate: true, retry: { initialDelayMs: 100, maxDelayMs: 1000 } },
    ...(taskRetentionMs === undefined
      ? {}
      : { retention: { keepTasksMs: taskRetentionMs, sweepIntervalMs: 100 } }),
    observer: {
      onStoreState: ({ state }) => printReport({ kind: "store", state, at: readMonotonicMs() }),
      onWarning: ({ message }) => printReport({ kind: "warning", message }),
      onError: ({ where, error }) => printReport({ kind: "error", where, error: String(error) }),
    },
  },
);
process.stdin.on("end", () => process.exit(0)).resume();
const { url } = await server.listen({ port });
printReport({ kind: "ready", url });
