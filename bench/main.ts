import { availableParallelism } from "node:os";
import { Bench } from "./bench.ts";
import { renderTable, type Table } from "./report.ts";
import { parseSettings, USAGE, type Settings, type WorkloadName } from "./settings.ts";
import { OURS } from "./subjects.ts";
import { measureAdk } from "./workloads/adk.ts";
import { measureChunks } from "./workloads/chunks.ts";
import { measureGrpc } from "./workloads/grpc.ts";
import { measureReaders } from "./workloads/readers.ts";
import { measureSend, measureStreaming } from "./workloads/requests.ts";

const MEASURES: Record<WorkloadName, (bench: Bench) => Promise<Table[]>> = {
  send: measureSend,
  stream: measureStreaming,
  chunks: measureChunks,
  grpc: measureGrpc,
  adk: measureAdk,
  readers: measureReaders,
};

const settings = readSettings();
if (settings) await run(settings);

async function run(settings: Settings): Promise<void> {
  const began = performance.now();
  const tables = await measure(settings);
  const about = {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cores: availableParallelism(),
    seconds: Math.round((performance.now() - began) / 1000),
  };
  if (settings.json)
    console.log(JSON.stringify({ date: new Date().toISOString(), ...about, tables }, null, 2));
  else console.log(`\nNode ${about.node}, ${about.platform}, ${about.cores} cores, ${about.seconds} s`);
  // A missed bar is a report; a wrong answer of what is ours makes every number here worthless.
  for (const { subject, faults } of tables.flatMap(({ rows }) => rows)) {
    if (faults.length === 0 || !OURS.test(subject)) continue;
    say(`${subject}: ${faults[0]}`);
    process.exitCode = 1;
  }
}

/** Measures what was asked for, and prints each table as soon as it is there. */
async function measure(settings: Settings): Promise<Table[]> {
  const bench = await Bench.start(settings, say);
  const all: Table[] = [];
  try {
    for (const workload of settings.only) {
      say(workload);
      const tables = await MEASURES[workload](bench);
      if (!settings.json) for (const table of tables) console.log(`\n${renderTable(table)}`);
      all.push(...tables);
    }
    return all;
  } finally {
    await bench.stop();
  }
}

/** Progress goes where it does not get into the report. */
function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** The settings; undefined, with the exit code set, when there is nothing to measure. */
function readSettings(): Settings | undefined {
  try {
    const given = parseSettings(process.argv.slice(2));
    if (!given) console.log(USAGE);
    return given;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    process.exitCode = 2;
    return undefined;
  }
}
