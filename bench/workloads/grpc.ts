import { partyOf, type Bench } from "../bench.ts";
import { wholeText, type Job } from "../job.ts";
import { ratio, type Table } from "../report.ts";
import { GRPC_SUBJECTS } from "../subjects.ts";
import { measureRates } from "./rates.ts";

const JOB: Job = { kind: "chunks", count: 10 };
const CONNECTIONS = 32;

/** Both ways to send a message with ten chunks, over gRPC. */
export async function measureGrpc(bench: Bench): Promise<Table[]> {
  return [await measure(bench, "SendMessage"), await measure(bench, "SendStreamingMessage")];
}

async function measure(bench: Bench, operation: "SendMessage" | "SendStreamingMessage"): Promise<Table> {
  const results = await bench.with(GRPC_SUBJECTS, (parties) => {
    const entries = GRPC_SUBJECTS.map((name) => {
      const party = partyOf(parties, name);
      const template = { endpoint: party.endpoint, operation, job: JOB };
      return { label: name, party, template, text: wholeText(JOB.count) };
    });
    return measureRates(bench, entries, CONNECTIONS);
  });
  const a2aJs = results.get("a2a-js-grpc")!.perSecond;
  return {
    workload: "grpc",
    title: `${operation} over gRPC, ${JOB.count} chunks, ${CONNECTIONS} connections`,
    columns: [
      { key: "perSecond", title: "per second", format: "rate" },
      { key: "toA2aJs", title: "× a2a-js", format: "ratio" },
      { key: "p50", title: "p50 ms", format: "ms" },
      { key: "p99", title: "p99 ms", format: "ms" },
      { key: "cpu", title: "cpu µs", format: "us" },
      { key: "events", title: "events", format: "count" },
    ],
    rows: [...results].map(([subject, rates]) => ({
      subject,
      cells: { ...rates.cells, toA2aJs: ratio(rates.perSecond, a2aJs) },
      targets: [],
      checked: rates.checked,
      faults: rates.faults,
    })),
  };
}
