import { availableParallelism } from "node:os";
import { BenchmarkContext } from "./benchmark-context.ts";
import { renderTable, type ReportTable } from "./report.ts";
import { parseCommandLineSettings, USAGE, type BenchmarkSettings, type WorkloadName } from "./settings.ts";
import { FAULTS_FAIL_BENCHMARK_SYSTEM_PATTERN } from "./systems-under-test.ts";
import { measureAdkThroughput } from "./workloads/adk.ts";
import { measureLongStreams } from "./workloads/long-streams.ts";
import { measureGrpc } from "./workloads/grpc.ts";
import { measureIdleSubscribers } from "./workloads/idle-subscribers.ts";
import { measureRecording } from "./workloads/recording.ts";
import { measureTelemetry } from "./workloads/telemetry.ts";
import { measureSend, measureStreaming } from "./workloads/message-throughput.ts";
import { measureArtifactSizes } from "./growth/artifact-size.ts";
import { measureLargePages } from "./growth/large-pages.ts";
import { measureListBesideSend } from "./growth/list-beside-send.ts";
import { measureListTasks } from "./growth/list-tasks.ts";
import { measurePostgres } from "./growth/postgres.ts";
import { measureStoredTasks } from "./growth/stored-tasks.ts";
import { measureTurns } from "./growth/turns.ts";

const WORKLOADS_BY_NAME: Record<WorkloadName, (bench: BenchmarkContext) => Promise<ReportTable[]>> = {
  send: measureSend,
  stream: measureStreaming,
  chunks: measureLongStreams,
  grpc: measureGrpc,
  adk: measureAdkThroughput,
  telemetry: measureTelemetry,
  record: measureRecording,
  readers: measureIdleSubscribers,
  "stored-tasks": measureStoredTasks,
  "list-tasks": measureListTasks,
  "list-beside-send": measureListBesideSend,
  turns: measureTurns,
  "artifact-size": measureArtifactSizes,
  "large-pages": measureLargePages,
  postgres: measurePostgres,
};

const commandLineSettings = readCommandLineSettings();
if (commandLineSettings) await runBenchmark(commandLineSettings);

async function runBenchmark(settings: BenchmarkSettings): Promise<void> {
  const startedAt = performance.now();
  const tables = await measureWorkloads(settings);
  const environment = {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cores: availableParallelism(),
    seconds: Math.round((performance.now() - startedAt) / 1000),
  };
  if (settings.json)
    console.log(JSON.stringify({ date: new Date().toISOString(), ...environment, tables }, null, 2));
  else
    console.log(
      `\nNode ${environment.node}, ${environment.platform}, ${environment.cores} cores, ${environment.seconds} s`,
    );
  // A missed target is only reported. A wrong response of Colloquy or of the baseline invalidates the
  // numbers, so it fails the benchmark.
  for (const { subject, faults } of tables.flatMap(({ rows }) => rows)) {
    if (faults.length === 0 || !FAULTS_FAIL_BENCHMARK_SYSTEM_PATTERN.test(subject)) continue;
    logProgress(`${subject}: ${faults[0]}`);
    process.exitCode = 1;
  }
}

/** Runs the selected workloads and prints each table as soon as it is complete. */
async function measureWorkloads(settings: BenchmarkSettings): Promise<ReportTable[]> {
  const bench = await BenchmarkContext.createAndStartLoadGenerator(settings, logProgress);
  const allTables: ReportTable[] = [];
  try {
    for (const workload of settings.workloads) {
      logProgress(workload);
      const tables = await WORKLOADS_BY_NAME[workload](bench);
      if (!settings.json) for (const table of tables) console.log(`\n${renderTable(table)}`);
      allTables.push(...tables);
    }
    return allTables;
  } finally {
    await bench.stopLoadGenerator();
  }
}

/** Writes progress to stderr, so that it does not appear in the report. */
function logProgress(line: string): void {
  process.stderr.write(`${line}\n`);
}

/**
 * Returns the settings. Returns `undefined` when nothing must be measured, and sets the exit code after an
 * error.
 */
function readCommandLineSettings(): BenchmarkSettings | undefined {
  try {
    const parsed = parseCommandLineSettings(process.argv.slice(2));
    if (!parsed) console.log(USAGE);
    return parsed;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    process.exitCode = 2;
    return undefined;
  }
}
