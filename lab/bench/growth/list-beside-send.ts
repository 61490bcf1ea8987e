import {
  requireRunningSystem,
  rotateList,
  type BenchmarkContext,
  type RunningSystem,
} from "../benchmark-context.ts";
import { buildExpectedText } from "../benchmark-job.ts";
import { createJobRequest, createListRequest } from "../load/request-template.ts";
import type { ThroughputResult } from "../load/response-counter.ts";
import { computeMedian, createMaximumTarget, type ReportTable } from "../report.ts";
import { TEN_CHUNK_JOB } from "../workloads/throughput-rounds.ts";
import { selectStoresBySize } from "./stores-by-size.ts";

const SENDER_COUNT = 4;
const LISTER_COUNT = 4;
/** A blocked server needs seconds for a response, so each measurement takes longer than in other workloads. */
const TRIAL_MS = 3000;
const QUICK_TRIAL_MS = 1000;
const ROUND_COUNT = 3;

interface SendRound {
  readonly alone: ThroughputResult;
  readonly beside: ThroughputResult;
  readonly lists: ThroughputResult;
}

/** Measures `SendMessage` while other clients list the tasks of a state that no task has. */
export async function measureListBesideSend(bench: BenchmarkContext): Promise<ReportTable[]> {
  const names = selectStoresBySize(bench.settings).map(({ name }) => name);
  const roundsByName = new Map(names.map((name) => [name, [] as SendRound[]]));
  await bench.runWithStartedSystems(names, async (systems) => {
    for (const system of systems) await measureSendRound(bench, system);
    for (let round = 0; round < ROUND_COUNT; round++)
      for (const name of rotateList(names, round))
        roundsByName.get(name)!.push(await measureSendRound(bench, requireRunningSystem(systems, name)));
  });
  const emptyRounds = roundsByName.get("colloquy-sqlite")!;
  const rows = names.map((subject) => {
    const rounds = roundsByName.get(subject)!;
    const median = (pick: (round: SendRound) => number): number => computeMedian(rounds.map(pick));
    const toEmpty = computeMedian(
      rounds.map(({ beside }, round) => beside.p50 / (emptyRounds[round]?.beside.p50 ?? Number.NaN)),
    );
    return {
      subject,
      cells: {
        alone: median(({ alone }) => alone.p50),
        beside: median(({ beside }) => beside.p50),
        p99: median(({ beside }) => beside.p99),
        toEmpty,
        lists: median(({ lists }) => lists.perSecond),
      },
      targets: rounds === emptyRounds ? [] : [createMaximumTarget(1.15, toEmpty, "× empty")],
      checked: rounds.reduce(
        (sum, { alone, beside, lists }) => sum + alone.checked + beside.checked + lists.checked,
        0,
      ),
      faults: rounds.flatMap(({ alone, beside, lists }) => [
        ...[alone, beside, lists].flatMap(({ checked }) => (checked === 0 ? ["no response in time"] : [])),
        ...alone.faults,
        ...beside.faults,
        ...lists.faults,
      ]),
    };
  });
  return [
    {
      workload: "list-beside-send",
      title: `SendMessage of ${SENDER_COUNT} clients beside ${LISTER_COUNT} clients that list an absent state`,
      columns: [
        { key: "alone", title: "alone p50 ms", format: "ms2" },
        { key: "beside", title: "p50 ms", format: "ms2" },
        { key: "p99", title: "p99 ms", format: "ms2" },
        { key: "toEmpty", title: "p50 × empty", format: "ratio" },
        { key: "lists", title: "lists/s", format: "rate" },
      ],
      rows,
    },
  ];
}

async function measureSendRound(bench: BenchmarkContext, { endpoint }: RunningSystem): Promise<SendRound> {
  const { rampUpMs, quick } = bench.settings;
  const load = { rampUpMs, durationMs: quick ? QUICK_TRIAL_MS : TRIAL_MS };
  const send = (): Promise<ThroughputResult> =>
    bench.loadGenerator.call("measureThroughput", {
      ...load,
      connections: SENDER_COUNT,
      template: createJobRequest(endpoint, "SendMessage", TEN_CHUNK_JOB),
      expected: { text: buildExpectedText(TEN_CHUNK_JOB.count) },
    });
  const list = (): Promise<ThroughputResult> =>
    bench.loadGenerator.call("measureThroughput", {
      ...load,
      connections: LISTER_COUNT,
      template: createListRequest(endpoint, { status: "TASK_STATE_REJECTED" }),
      expected: { totalSize: 0 },
    });
  const alone = await send();
  const [beside, lists] = await Promise.all([send(), list()]);
  return { alone, beside, lists };
}
