import { requireRunningSystem, type BenchmarkContext } from "../benchmark-context.ts";
import { buildExpectedText } from "../benchmark-job.ts";
import { createJobRequest } from "../load/request-template.ts";
import { computeMedianRatio, createMaximumTarget, type ReportTable } from "../report.ts";
import {
  CONNECTION_COUNT,
  LATENCY_COLUMNS,
  measureThroughputRounds,
  TEN_CHUNK_JOB,
} from "../workloads/throughput-rounds.ts";
import { selectStoresBySize } from "./stores-by-size.ts";

/** Measures `SendMessage` with an empty store, and with stores of many tasks. */
export async function measureStoredTasks(bench: BenchmarkContext): Promise<ReportTable[]> {
  const names = selectStoresBySize(bench.settings).map(({ name }) => name);
  const results = await bench.runWithStartedSystems(names, (systems) =>
    measureThroughputRounds(
      bench,
      names.map((name) => {
        const system = requireRunningSystem(systems, name);
        return {
          label: name,
          system,
          request: createJobRequest(system.endpoint, "SendMessage", TEN_CHUNK_JOB),
          expectedText: buildExpectedText(TEN_CHUNK_JOB.count),
        };
      }),
      CONNECTION_COUNT,
    ),
  );
  const empty = results.get("colloquy-sqlite")!;
  const rows = [...results].map(([subject, rounds]) => {
    const timeToEmpty = computeMedianRatio(empty.perSecond, rounds.perSecond);
    const cpuToEmpty = computeMedianRatio(rounds.cpuMicros, empty.cpuMicros);
    return {
      subject,
      cells: { ...rounds.tableCells, timeToEmpty, cpuToEmpty },
      targets: rounds === empty ? [] : [createMaximumTarget(1.15, timeToEmpty, "time × empty")],
      checked: rounds.checkedResponseCount,
      faults: rounds.responseFaults,
    };
  });
  return [
    {
      workload: "stored-tasks",
      title: `SendMessage by number of stored tasks, ${CONNECTION_COUNT} connections`,
      columns: [
        { key: "perSecond", title: "per second", format: "rate" },
        { key: "timeToEmpty", title: "time × empty", format: "ratio" },
        { key: "cpuToEmpty", title: "cpu × empty", format: "ratio" },
        ...LATENCY_COLUMNS,
      ],
      rows,
    },
  ];
}
