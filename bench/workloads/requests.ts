import { partyOf, type Bench, type Party } from "../bench.ts";
import { wholeText, type Job } from "../job.ts";
import { jobRequest, type Dialect, type Method } from "../load/request.ts";
import { ratio, type Row, type Table } from "../report.ts";
import { MODEL, SEND_SUBJECTS, STREAM_SUBJECTS, STREAMS_OF_0_3, type SubjectName } from "../subjects.ts";
import { OLDER_BAR, SEND_BARS, STREAM_BARS, type Bars } from "../targets.ts";
import { measureRates, type Entry } from "./rates.ts";

const JOB: Job = { kind: "chunks", count: 10 };
const CONNECTIONS = 32;

/** `SendMessage` with ten chunks. */
export function measureSend(bench: Bench): Promise<Table[]> {
  return measure(bench, "send", "SendMessage", SEND_SUBJECTS, SEND_BARS);
}

/** `SendStreamingMessage` with ten chunks; of our own servers also as `message/stream`, by the same process. */
export function measureStreaming(bench: Bench): Promise<Table[]> {
  return measure(bench, "stream", "SendStreamingMessage", STREAM_SUBJECTS, STREAM_BARS, STREAMS_OF_0_3);
}

async function measure(
  bench: Bench,
  workload: string,
  method: Method,
  names: readonly SubjectName[],
  bars: Bars,
  older: readonly SubjectName[] = [],
): Promise<Table[]> {
  const results = await bench.with(names, async (parties) => {
    await bench.teachFloor(parties, MODEL, method, JOB);
    const entryOf = (label: string, party: Party, dialect: Dialect = party.endpoint.dialect): Entry => ({
      label,
      party,
      template: jobRequest({ ...party.endpoint, dialect }, method, JOB),
      text: wholeText(JOB.count),
    });
    const entries = names.flatMap((name) => {
      const party = partyOf(parties, name);
      const own = entryOf(name, party);
      return older.includes(name) ? [own, entryOf(olderName(name), party, "0.3")] : [own];
    });
    return measureRates(bench, entries, CONNECTIONS);
  });
  const floor = results.get("floor")!.perSecond;
  const a2aJs = results.get("a2a-js")!.perSecond;
  const rows = names.flatMap((name) => {
    const newer = results.get(name)!;
    const rowOf = (
      subject: string,
      targetsFor: (toFloor: number, toA2aJs: number) => Row["targets"],
    ): Row => {
      const rates = results.get(subject)!;
      const toFloor = ratio(rates.perSecond, floor);
      const toA2aJs = ratio(rates.perSecond, a2aJs);
      const targets = targetsFor(toFloor, toA2aJs);
      const { checked, faults } = rates;
      return { subject, cells: { ...rates.cells, toFloor, toA2aJs }, targets, checked, faults };
    };
    const own = rowOf(name, (toFloor, toA2aJs) => bars[name]?.({ toFloor, toA2aJs }) ?? []);
    if (!older.includes(name)) return [own];
    const cost = ratio(newer.perSecond, results.get(olderName(name))!.perSecond);
    const row = rowOf(olderName(name), () => [OLDER_BAR(cost)]);
    return [own, { ...row, cells: { ...row.cells, cost } }];
  });
  return [
    {
      workload,
      title: `${method}, ${JOB.count} chunks, ${CONNECTIONS} connections`,
      columns: [
        { key: "perSecond", title: "per second", format: "rate" },
        { key: "toFloor", title: "× floor", format: "ratio" },
        { key: "toA2aJs", title: "× a2a-js", format: "ratio" },
        ...(older.length > 0 ? [{ key: "cost", title: "cost/1.0", format: "ratio" } as const] : []),
        { key: "p50", title: "p50 ms", format: "ms" },
        { key: "p99", title: "p99 ms", format: "ms" },
        { key: "cpu", title: "cpu µs", format: "us" },
        { key: "events", title: "events", format: "count" },
      ],
      rows,
    },
  ];
}

function olderName(name: SubjectName): string {
  return `${name}, 0.3`;
}
