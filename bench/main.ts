import { availableParallelism } from "node:os";
import { Bench } from "./bench.ts";
import { renderTable, type Table } from "./report.ts";
import { parseSettings, USAGE, type Settings, type WorkloadName } from "./settings.ts";
import { OURS } from "./subjects.ts";
import { measureAdk } from "./workloads/adk.ts";
import { measureChunks } from "./workloads/chunks.ts";
import { measureReaders } from "./workloads/readers.ts";
import { measureSend, measureStreaming } from "./workloads/requests.ts";

const MEASURES: Record<WorkloadName, (bench: Bench) => Promise<Table[]>> = {
  send: measureSend,
  stream: measureStreaming,
  chunks: measureChunks,
  adk: measureAdk,
  readers: measureReaders,
};

const settings = readSettings();

const began = performance.now();
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const bench = await Bench.start(settings, say);
const tables: Table[] = [];
try {
  for (const workload of settings.only) {
    say(workload);
    const measured = await MEASURES[workload](bench);
    tables.push(...measured);
    if (!settings.json) for (const table of measured) console.log(`\n${renderTable(table)}`);
  }
} finally {
  await bench.stop();
}

const machine = {
  node: process.version,
  platform: `${process.platform} ${process.arch}`,
  cores: availableParallelism(),
};
const seconds = Math.round((performance.now() - began) / 1000);
if (settings.json)
  console.log(JSON.stringify({ ...machine, date: new Date().toISOString(), seconds, tables }, null, 2));
else console.log(`\nNode ${machine.node}, ${machine.platform}, ${machine.cores} cores, ${seconds} s`);

// A missed bar is a report; a wrong answer of what is ours makes every number here worthless.
const wrong = tables
  .flatMap(({ rows }) => rows)
  .filter((row) => row.faults.length > 0 && OURS.test(row.subject));
if (wrong.length > 0) {
  for (const { subject, faults } of wrong) say(`${subject}: ${faults[0]}`);
  process.exitCode = 1;
}

/** Ends the process when the command line asks for help or says what nobody knows. */
function readSettings(): Settings {
  try {
    const given = parseSettings(process.argv.slice(2));
    if (given) return given;
    console.log(USAGE);
    process.exit(0);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    process.exit(2);
  }
}
