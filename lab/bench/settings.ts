import { parseArgs } from "node:util";

/** Workloads that compare Colloquy with other servers. */
const COMPARISON_WORKLOADS = [
  "send",
  "stream",
  "chunks",
  "grpc",
  "adk",
  "telemetry",
  "record",
  "readers",
] as const;
/** Workloads that measure how costs grow with the stored data (`lab/bench/growth/`). */
const GROWTH_WORKLOADS = [
  "stored-tasks",
  "list-tasks",
  "list-beside-send",
  "turns",
  "artifact-size",
  "large-pages",
  "postgres",
] as const;

export type WorkloadName = (typeof COMPARISON_WORKLOADS | typeof GROWTH_WORKLOADS)[number];

export interface BenchmarkSettings {
  readonly quick: boolean;
  readonly json: boolean;
  readonly workloads: readonly WorkloadName[];
  /** Folder for CPU profiles of all processes under test. Default: no profiles. */
  readonly profileDir: string | undefined;
  /**
   * Number of rounds. Each round measures every system once, so that a disturbance of the machine affects all
   * systems.
   */
  readonly rounds: number;
  /** Duration of one measurement in milliseconds. */
  readonly trialMs: number;
  /** Time in milliseconds before each measurement that is not counted. */
  readonly rampUpMs: number;
  /** Duration in milliseconds of the warm-up of each system. */
  readonly warmUpMs: number;
  /**
   * Time in milliseconds after which the stream of a server with quadratic cost is stopped. Its row then
   * shows a bound.
   */
  readonly streamTimeoutMs: number;
  readonly subscriberCount: number;
}

export const USAGE: string = `npm run bench -- [options]

  --quick            about half a minute instead of about three and a half; coarser
  --growth           the rows of growth: ${GROWTH_WORKLOADS.join(", ")}
  --only <workload>  one of ${COMPARISON_WORKLOADS.join(", ")}, growth, or a row of growth; may be repeated
  --json             one JSON document instead of tables
  --profile <dir>    write a CPU profile of every process under test to <dir>`;

/**
 * Parses the command line. Returns `undefined` when it asks for help. Throws for unknown options and
 * workloads.
 */
export function parseCommandLineSettings(args: readonly string[]): BenchmarkSettings | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      growth: { type: "boolean", default: false },
      only: { type: "string", multiple: true, default: [] },
      profile: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return undefined;
  const only = [...values.only, ...(values.growth ? ["growth"] : [])]
    .flatMap((names) => names.split(","))
    .flatMap(parseWorkloadNames);
  const { quick, json, profile } = values;
  return {
    quick,
    json,
    profileDir: profile,
    workloads: only.length > 0 ? only : COMPARISON_WORKLOADS,
    rounds: quick ? 3 : 9,
    trialMs: quick ? 200 : 400,
    rampUpMs: 100,
    warmUpMs: quick ? 200 : 1000,
    streamTimeoutMs: quick ? 1000 : 30_000,
    subscriberCount: quick ? 500 : 2000,
  };
}

/** Returns the workloads that a name selects. The name `growth` selects all rows of growth. */
function parseWorkloadNames(name: string): readonly WorkloadName[] {
  if (name === "growth") return GROWTH_WORKLOADS;
  const all = [...COMPARISON_WORKLOADS, ...GROWTH_WORKLOADS];
  const known = all.find((workload) => workload === name);
  if (!known) throw new Error(`the workload ${name} does not exist; use one of ${all.join(", ")}, growth`);
  return [known];
}
