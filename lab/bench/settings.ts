import { parseArgs } from "node:util";
import { describeWorkloads, selectWorkloads } from "./workloads.ts";

export interface BenchmarkSettings {
  readonly quick: boolean;
  readonly json: boolean;
  /** Names of the workloads. With `against` or `record`, names of workloads of `cost-by-build.ts`. */
  readonly workloads: readonly string[];
  /** Git reference of the build that this checkout is compared with. */
  readonly against: string | undefined;
  /** Whether the figures of the builds are written to the history. */
  readonly record: boolean;
  /** Folder for CPU profiles of all processes under test. Default: no profiles. */
  readonly profileDir: string | undefined;
  /**
   * Number of rounds. Each round measures every system once, so that a disturbance of the machine affects all
   * systems.
   */
  readonly rounds: number;
  /** Duration of one measurement in milliseconds. For builds, the CPU time of the measured process. */
  readonly trialMs: number;
  /** Time in milliseconds before each measurement that is not counted. */
  readonly rampUpMs: number;
  /**
   * Longest CPU time in milliseconds of the warm-up of each system, which ends earlier if the CPU time per response no
   * longer falls.
   */
  readonly warmUpMs: number;
  /**
   * Time in milliseconds after which the stream of a server with quadratic cost is stopped. Its row then
   * shows a bound.
   */
  readonly streamTimeoutMs: number;
  readonly subscriberCount: number;
}

/** Workloads of `cost-by-build.ts`. */
export const BUILD_WORKLOADS: readonly string[] = ["send", "stream", "grpc", "grpc-stream"];

export const USAGE: string = `npm run bench -- [options]

  --quick          about half a minute instead of about ten minutes; coarser
  --growth         the workloads of growth
  --only NAME      a workload or a group of workloads; may be repeated or separated by commas
  --against REF    compares this checkout with the commit REF; with --only: ${BUILD_WORKLOADS.join(", ")}
  --record         measures this checkout, and REF if given, and writes the figures to lab/bench/history.jsonl
  --history        prints the history
  --json           one JSON document instead of tables
  --profile DIR    writes a CPU profile of every process under test to DIR

${describeWorkloads()}

Without --only and --growth, the benchmark runs the group comparison.`;

/** The parsed command line. */
export type Command =
  | { readonly name: "help" | "history" }
  | { readonly name: "run"; readonly settings: BenchmarkSettings };

/** Parses the command line. Throws for unknown options and workloads. */
export function parseCommandLine(args: readonly string[]): Command {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      growth: { type: "boolean", default: false },
      record: { type: "boolean", default: false },
      history: { type: "boolean", default: false },
      only: { type: "string", multiple: true, default: [] },
      against: { type: "string" },
      profile: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return { name: "help" };
  if (values.history) return { name: "history" };
  const { quick, json, record, against, profile } = values;
  const comparesBuilds = record || against !== undefined;
  const only = [...values.only.flatMap((names) => names.split(",")), ...(values.growth ? ["growth"] : [])];
  const unknown = comparesBuilds && only.find((name) => !BUILD_WORKLOADS.includes(name));
  if (unknown)
    throw new Error(`--against and --record measure ${BUILD_WORKLOADS.join(", ")}, not ${unknown}`);
  return {
    name: "run",
    settings: {
      quick,
      json,
      record,
      against,
      profileDir: profile,
      workloads: comparesBuilds
        ? BUILD_WORKLOADS.filter((name) => only.length === 0 || only.includes(name))
        : selectWorkloads(only.length > 0 ? only : ["comparison"]),
      ...(comparesBuilds
        ? { rounds: quick ? 3 : 7, trialMs: quick ? 1000 : 2000, warmUpMs: quick ? 4000 : 10_000 }
        : { rounds: quick ? 3 : 9, trialMs: quick ? 200 : 400, warmUpMs: quick ? 200 : 10_000 }),
      rampUpMs: 100,
      streamTimeoutMs: quick ? 1000 : 30_000,
      subscriberCount: quick ? 500 : 2000,
    },
  };
}
