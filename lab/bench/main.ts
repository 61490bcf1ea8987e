import { availableParallelism, loadavg } from "node:os";
import { BenchmarkContext } from "./benchmark-context.ts";
import { buildCheckout } from "./builds.ts";
import { canPinProcesses } from "./child-process-rpc.ts";
import { measureBuilds } from "./cost-by-build.ts";
import { renderHistory } from "./history.ts";
import { renderTable, type ReportTable } from "./report.ts";
import { parseCommandLine, USAGE, type BenchmarkSettings, type Command } from "./settings.ts";
import { FAULTS_FAIL_BENCHMARK_SYSTEM_PATTERN } from "./systems-under-test.ts";
import { findWorkload } from "./workloads.ts";

const command = readCommandLine();
if (command?.name === "help") console.log(USAGE);
if (command?.name === "history") console.log(renderHistory());
if (command?.name === "run") await runBenchmark(command.settings);

async function runBenchmark(settings: BenchmarkSettings): Promise<void> {
  const startedAt = performance.now();
  const loadBefore = loadavg()[0] ?? 0;
  const tables = await measureWorkloads(settings);
  const environment = {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cores: availableParallelism(),
    pinned: canPinProcesses(),
    loadBefore,
    seconds: Math.round((performance.now() - startedAt) / 1000),
  };
  if (settings.json)
    console.log(JSON.stringify({ date: new Date().toISOString(), ...environment, tables }, null, 2));
  else
    console.log(
      `\nNode ${environment.node}, ${environment.platform}, ${environment.cores} cores, ` +
        `${environment.pinned ? "" : "not "}pinned, load average before the run ${loadBefore.toFixed(1)}, ` +
        `${environment.seconds} s`,
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
  const build = buildCheckout(logProgress);
  const bench = new BenchmarkContext(settings, logProgress);
  const allTables: ReportTable[] = [];
  const report = (tables: readonly ReportTable[]): void => {
    if (!settings.json) for (const table of tables) console.log(`\n${renderTable(table)}`);
    allTables.push(...tables);
  };
  try {
    if (settings.record || settings.against !== undefined) await measureBuilds(bench, build, report);
    else
      for (const name of settings.workloads) {
        logProgress(name);
        report((await findWorkload(name)?.measure(bench)) ?? []);
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

/** Returns the command. Prints an error and returns `undefined` if the command line is wrong. */
function readCommandLine(): Command | undefined {
  try {
    return parseCommandLine(process.argv.slice(2));
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    process.exitCode = 2;
    return undefined;
  }
}
