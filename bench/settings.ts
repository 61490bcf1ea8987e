import { parseArgs } from "node:util";

export const WORKLOADS: readonly WorkloadName[] = ["send", "stream", "chunks", "grpc", "adk", "readers"];
export type WorkloadName = "send" | "stream" | "chunks" | "grpc" | "adk" | "readers";

export interface BenchmarkSettings {
  readonly quick: boolean;
  readonly json: boolean;
  readonly workloads: readonly WorkloadName[];
  /** A folder for CPU profiles of everything under test; absent: none. */
  readonly profileDir: string | undefined;
  /** Every subject is measured once per round, so that a disturbance of the machine meets all alike. */
  readonly rounds: number;
  /** Length of one trial, and of the stretch before it that is not counted. */
  readonly trialMs: number;
  readonly rampUpMs: number;
  readonly warmUpMs: number;
  /** After that the stream of a server whose time grows with the square of its length is given up: its row is a bound. */
  readonly streamTimeoutMs: number;
  readonly subscriberCount: number;
}

export const USAGE: string = `npm run bench -- [options]

  --quick            about half a minute instead of about three and a half; coarser
  --only <workload>  one of ${WORKLOADS.join(", ")}; may be repeated
  --json             one JSON document instead of tables
  --profile <dir>    write a CPU profile of every process under test to <dir>`;

/** The settings of a command line; undefined when it asks for help. Throws on what it does not know. */
export function parseSettings(args: readonly string[]): BenchmarkSettings | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      only: { type: "string", multiple: true, default: [] },
      profile: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return undefined;
  const only = values.only.flatMap((names) => names.split(",")).map(parseWorkloadName);
  const { quick, json, profile } = values;
  return {
    quick,
    json,
    profileDir: profile,
    workloads: only.length > 0 ? only : WORKLOADS,
    rounds: quick ? 3 : 9,
    trialMs: quick ? 200 : 400,
    rampUpMs: 100,
    warmUpMs: quick ? 200 : 1000,
    streamTimeoutMs: quick ? 1000 : 30_000,
    subscriberCount: quick ? 500 : 2000,
  };
}

function parseWorkloadName(name: string): WorkloadName {
  const known = WORKLOADS.find((workload) => workload === name);
  if (!known) throw new Error(`there is no workload ${name}; there are ${WORKLOADS.join(", ")}`);
  return known;
}
