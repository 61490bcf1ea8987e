import { requireRunningSystem, type BenchmarkContext, type RunningSystem } from "../benchmark-context.ts";
import type { BenchmarkJob } from "../benchmark-job.ts";
import { createFollowUpRequest, createJobRequest, type RequestTemplate } from "../load/request-template.ts";
import { computeMedian } from "../interval.ts";
import { parseTaskOutcome } from "../load/responses.ts";
import { createMaximumTarget, type ReportRow, type ReportTable } from "../report.ts";

const SYSTEMS: readonly string[] = ["colloquy-memory", "colloquy-sqlite"];
const TURNS = [10, 100, 1000, 5000] as const;
/** Number of turns in the middle of which the measured turn is. */
const WINDOW = 20;
const QUESTION: BenchmarkJob = { kind: "question", count: 0 };

/** Cost of one turn. */
interface TurnCost {
  readonly cpuMicros: number;
  readonly ms: number;
}

/** Measures the cost of a turn of a task that has had many turns. */
export async function measureTurns(bench: BenchmarkContext): Promise<ReportTable[]> {
  const { quick } = bench.settings;
  const turns = quick ? TURNS.slice(0, -1) : TURNS;
  const taskCount = quick ? 1 : 3;
  const rows = await bench.runWithStartedSystems(SYSTEMS, async (systems) => {
    const measured: ReportRow[] = [];
    for (const name of SYSTEMS) {
      const system = requireRunningSystem(systems, name);
      // The first tasks warm up the server.
      for (let task = 0; task < 5; task++) await measureTask(bench, system, [100]);
      const tasks: TurnCost[][] = [];
      for (let task = 0; task < taskCount; task++) {
        bench.logProgress(`  ${name}, task ${task + 1} of ${taskCount}`);
        tasks.push(await measureTask(bench, system, turns));
      }
      const cost = (at: number, pick: (cost: TurnCost) => number): number =>
        computeMedian(tasks.map((costs) => pick(costs[at]!)));
      const growth =
        cost(turns.length - 1, ({ cpuMicros }) => cpuMicros) / cost(0, ({ cpuMicros }) => cpuMicros);
      const cells = turns.flatMap((turn, at) => [
        [`cpu${turn}`, cost(at, ({ cpuMicros }) => cpuMicros)],
        [`ms${turn}`, cost(at, ({ ms }) => ms)],
      ]);
      measured.push({
        subject: name,
        cells: { ...(Object.fromEntries(cells) as Record<string, number>), growth },
        targets: [createMaximumTarget(2, growth, `turn ${turns.at(-1)} : turn 10`)],
        checked: taskCount,
        faults: [],
      });
    }
    return measured;
  });
  return [
    {
      workload: "turns",
      title: "SendMessage to one task by number of earlier turns: CPU µs and median ms of a turn",
      columns: [
        ...turns.flatMap((turn) => [
          { key: `cpu${turn}`, title: `${turn}: cpu µs`, format: "us" } as const,
          { key: `ms${turn}`, title: "ms", format: "ms2" } as const,
        ]),
        { key: "growth", title: `cpu ${turns.at(-1)}:10`, format: "ratio" },
      ],
      rows,
    },
  ];
}

/** Sends turns to a new task, and returns the cost of the given turns. */
async function measureTask(
  bench: BenchmarkContext,
  system: RunningSystem,
  turns: readonly number[],
): Promise<TurnCost[]> {
  const first = await bench.loadGenerator.call(
    "sendOnce",
    createJobRequest(system.endpoint, "SendMessage", QUESTION),
  );
  const { taskId = "", contextId = "" } = parseTaskOutcome(Buffer.from(first, "latin1"));
  const template = createFollowUpRequest(system.endpoint, { taskId, contextId }, QUESTION);
  const costs: TurnCost[] = [];
  let sent = 1;
  for (const turn of turns) {
    await sendTurns(bench, template, Math.max(0, turn - WINDOW / 2 - sent));
    sent = Math.max(sent, turn - WINDOW / 2);
    const before = await system.process.call("getResourceUsage");
    const durations = await sendTurns(bench, template, WINDOW);
    const after = await system.process.call("getResourceUsage");
    sent += WINDOW;
    costs.push({ cpuMicros: ((after.cpuMs - before.cpuMs) * 1000) / WINDOW, ms: computeMedian(durations) });
  }
  return costs;
}

function sendTurns(bench: BenchmarkContext, template: RequestTemplate, count: number): Promise<number[]> {
  return bench.loadGenerator.call("measureSequentialRequests", { template, count });
}
