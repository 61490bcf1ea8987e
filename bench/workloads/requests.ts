import { partyOf, type Bench } from "../bench.ts";
import { wholeText, type Job } from "../job.ts";
import { jobRequest, type Method } from "../load/request.ts";
import { ratio, type Table } from "../report.ts";
import { MODEL, SEND_SUBJECTS, STREAM_SUBJECTS, type SubjectName } from "../subjects.ts";
import { SEND_BARS, STREAM_BARS, type Bars } from "../targets.ts";
import { measureRates } from "./rates.ts";

const JOB: Job = { kind: "chunks", count: 10 };
const CONNECTIONS = 32;

/** `SendMessage` with ten chunks. */
export function measureSend(bench: Bench): Promise<Table[]> {
  return measure(bench, "send", "SendMessage", SEND_SUBJECTS, SEND_BARS);
}

/** `SendStreamingMessage` with ten chunks. */
export function measureStreaming(bench: Bench): Promise<Table[]> {
  return measure(bench, "stream", "SendStreamingMessage", STREAM_SUBJECTS, STREAM_BARS);
}

async function measure(
  bench: Bench,
  workload: string,
  method: Method,
  names: readonly SubjectName[],
  bars: Bars,
): Promise<Table[]> {
  const results = await bench.with(names, async (parties) => {
    await bench.teachFloor(parties, MODEL, method, JOB);
    const entries = names.map((name) => {
      const party = partyOf(parties, name);
      return {
        label: name,
        party,
        template: jobRequest(party.endpoint, method, JOB),
        text: wholeText(JOB.count),
      };
    });
    return measureRates(bench, entries, CONNECTIONS);
  });
  const floor = results.get("floor")!.perSecond;
  const a2aJs = results.get("a2a-js")!.perSecond;
  const rows = names.map((subject) => {
    const rates = results.get(subject)!;
    const toFloor = ratio(rates.perSecond, floor);
    const toA2aJs = ratio(rates.perSecond, a2aJs);
    const targets = bars[subject]?.({ toFloor, toA2aJs }) ?? [];
    return {
      subject,
      cells: { ...rates.cells, toFloor, toA2aJs },
      targets,
      checked: rates.checked,
      faults: rates.faults,
    };
  });
  return [
    {
      workload,
      title: `${method}, ${JOB.count} chunks, ${CONNECTIONS} connections`,
      columns: [
        { key: "perSecond", title: "per second", format: "rate" },
        { key: "toFloor", title: "× floor", format: "ratio" },
        { key: "toA2aJs", title: "× a2a-js", format: "ratio" },
        { key: "p50", title: "p50 ms", format: "ms" },
        { key: "p99", title: "p99 ms", format: "ms" },
        { key: "cpu", title: "cpu µs", format: "us" },
        { key: "events", title: "events", format: "count" },
      ],
      rows,
    },
  ];
}
