import { partyOf, rotate, type Bench, type Party } from "../bench.ts";
import { wholeText, type Job } from "../job.ts";
import { jobRequest } from "../load/request.ts";
import type { StreamResult } from "../load/trial.ts";
import { median, ratio, type Column, type Row, type Table } from "../report.ts";
import { CHUNK_SUBJECTS, MODEL, type SubjectName } from "../subjects.ts";
import { CHUNK_BARS } from "../targets.ts";

const SIZES = [500, 2000, 8000] as const;
const [SMALL, , LARGE] = SIZES;
/** Takes seconds to minutes, so each size is measured once, in a process that nothing else of this bench shares. */
const SLOW: SubjectName = "a2a-js";
/** A stream longer than this is measured in the first round only. */
const LONG_MS = 1000;
/** Nothing but `SLOW` takes that long. */
const PATIENCE_MS = 60_000;

const TITLES: Record<"turns" | "chunks", string> = {
  turns: "One stream, each chunk in its own turn of the event loop",
  chunks: "One stream, chunks as fast as the agent can make them",
};

/** One long stream at a time: does a chunk cost the same however long the task has become? */
export async function measureChunks(bench: Bench): Promise<Table[]> {
  // In a quick run without the stores that reach the disk for each chunk, which takes its time.
  const quick = CHUNK_SUBJECTS.filter((name) => !name.includes("sqlite"));
  if (bench.settings.quick) return [await measure(bench, quick, "turns")];
  // What `SLOW` does at once takes it as long as what it does in turns.
  const fast = CHUNK_SUBJECTS.filter((name) => name !== SLOW);
  return [await measure(bench, CHUNK_SUBJECTS, "turns"), await measure(bench, fast, "chunks")];
}

async function measure(
  bench: Bench,
  names: readonly SubjectName[],
  kind: "turns" | "chunks",
): Promise<Table> {
  bench.say(`  ${TITLES[kind]}`);
  const times = await bench.with(
    names.filter((name) => name !== SLOW),
    (parties) => measureTimes(bench, parties, kind),
  );
  if (names.includes(SLOW)) times.set(SLOW, await measureSlow(bench, kind));
  return {
    workload: "chunks",
    title: `${TITLES[kind]} (${SIZES.map((size) => size.toLocaleString("en-US")).join(", ")} chunks of 16 bytes)`,
    columns: COLUMNS,
    rows: names.map((subject) => rowOf(subject, times, kind)),
  };
}

const COLUMNS: readonly Column[] = [
  ...SIZES.map((size): Column => ({ key: `ms${size}`, title: `${size} ms`, format: "ms" })),
  { key: "perSecond", title: "chunks/s", format: "rate" },
  { key: "toFloor", title: "× floor", format: "ratio" },
  { key: "toA2aJs", title: "× a2a-js", format: "ratio" },
  { key: "growth", title: `${LARGE}:${SMALL} per chunk`, format: "ratio" },
  { key: "events", title: "events", format: "count" },
];

type Times = Map<SubjectName, Map<number, StreamResult[]>>;

async function measureTimes(bench: Bench, parties: readonly Party[], kind: Job["kind"]): Promise<Times> {
  for (const count of SIZES) await bench.teachFloor(parties, MODEL, "SendStreamingMessage", { kind, count });
  const times: Times = new Map(parties.map(({ name }) => [name, new Map(SIZES.map((size) => [size, []]))]));
  for (const { name } of parties) {
    for (let round = 0; round < 3; round++)
      await stream(bench, partyOf(parties, name), { kind, count: SMALL }, PATIENCE_MS);
  }
  for (let round = 0; round < bench.settings.rounds; round++) {
    bench.say(`  round ${round + 1} of ${bench.settings.rounds}`);
    for (const party of rotate(parties, round)) {
      for (const count of SIZES) {
        const known = times.get(party.name)!.get(count)!;
        if (known[0] && known[0].ms > LONG_MS) continue;
        known.push(await stream(bench, party, { kind, count }, PATIENCE_MS));
      }
    }
  }
  return times;
}

/** A stream that is given up goes on in its process, which is therefore not used again. */
async function measureSlow(bench: Bench, kind: Job["kind"]): Promise<Map<number, StreamResult[]>> {
  const results = new Map<number, StreamResult[]>();
  for (const count of SIZES) {
    bench.say(`  ${SLOW}, ${count} chunks`);
    const measured = bench.with([SLOW], async ([party]) => {
      await stream(bench, party!, { kind, count: 10 }, PATIENCE_MS);
      return stream(bench, party!, { kind, count }, bench.settings.patienceMs);
    });
    results.set(count, [await measured]);
  }
  return results;
}

function stream(bench: Bench, { endpoint }: Party, job: Job, patienceMs: number): Promise<StreamResult> {
  return bench.load.call("measureStream", {
    template: jobRequest(endpoint, "SendStreamingMessage", job),
    text: wholeText(job.count),
    patienceMs,
  });
}

function rowOf(subject: SubjectName, times: Times, kind: string): Row {
  const of = (name: SubjectName, count: number): StreamResult[] => times.get(name)?.get(count) ?? [];
  const speeds = (name: SubjectName): number[] => of(name, LARGE).map(({ ms }) => (LARGE / ms) * 1000);
  const mine = of(subject, LARGE);
  const toFloor = ratio(speeds(subject), speeds("floor"));
  // Each round against the one stream that was measured of it.
  const toA2aJs = median(speeds(subject)) / median(speeds(SLOW));
  const perChunk = (count: number): number => median(of(subject, count).map(({ ms }) => ms / count));
  const growth = perChunk(LARGE) / perChunk(SMALL);
  const gaveUp = (name: SubjectName): boolean => of(name, LARGE).some(({ ended }) => !ended);
  const bounds: Record<string, "<" | ">"> = {};
  if (gaveUp(subject))
    Object.assign(bounds, { [`ms${LARGE}`]: ">", perSecond: "<", toFloor: "<", growth: ">" });
  const isBound = gaveUp(SLOW) && subject !== SLOW;
  if (isBound) bounds["toA2aJs"] = ">";
  return {
    subject,
    cells: {
      ...Object.fromEntries(
        SIZES.map((count) => [`ms${count}`, median(of(subject, count).map(({ ms }) => ms))]),
      ),
      perSecond: median(speeds(subject)),
      toFloor,
      toA2aJs,
      growth,
      events: median(mine.map(({ events }) => events)),
    },
    bounds,
    targets: kind === "turns" ? (CHUNK_BARS[subject]?.({ toFloor, toA2aJs, isBound, growth }) ?? []) : [],
    checked: SIZES.flatMap((count) => of(subject, count)).filter(({ ended }) => ended).length,
    faults: SIZES.flatMap((count) => of(subject, count).flatMap(({ faults }) => faults)),
  };
}
