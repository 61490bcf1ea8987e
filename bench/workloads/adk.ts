import { partyOf, type Bench } from "../bench.ts";
import type { Job } from "../job.ts";
import { jobRequest, type Method } from "../load/request.ts";
import { ratio, type Row, type Table } from "../report.ts";
import { SCRIPT, SCRIPT_TEXT } from "../script.ts";
import { ADK_SUBJECTS } from "../subjects.ts";
import { measureRates, type Entry } from "./rates.ts";

const CONCURRENCY = 16;
/** The agent says its script whatever it is asked. */
const GO: Job = { kind: "turns", count: 1 };
const MODES: Record<"whole" | "streamed", Method> = {
  whole: "SendMessage",
  streamed: "SendStreamingMessage",
};

/** One ADK agent with a scripted model behind each server, and by itself. */
export async function measureAdk(bench: Bench): Promise<Table[]> {
  const results = await bench.with(["adk-runner", ...ADK_SUBJECTS], (parties) => {
    const alone: Entry = {
      label: "adk-runner",
      party: partyOf(parties, "adk-runner"),
      template: undefined,
      text: SCRIPT_TEXT,
    };
    const served = Object.entries(MODES).flatMap(([mode, method]) =>
      ADK_SUBJECTS.map((name): Entry => {
        const party = partyOf(parties, name);
        return {
          label: `${name}, ${mode}`,
          party,
          template: jobRequest(party.endpoint, method, GO),
          text: SCRIPT_TEXT,
        };
      }),
    );
    return measureRates(bench, [alone, ...served], CONCURRENCY);
  });
  const runner = results.get("adk-runner")!.perSecond;
  const rows = [...results].map(([subject, rates]): Row => {
    const [, mode] = subject.split(", ");
    const rival = mode && results.get(`adk-toA2a, ${mode}`)!.perSecond;
    const toRival = rival ? ratio(rates.perSecond, rival) : undefined;
    const cells = { ...rates.cells, toRunner: ratio(rates.perSecond, runner), toRival };
    return { subject, cells, targets: [], checked: rates.checked, faults: rates.faults };
  });
  return [
    {
      workload: "adk",
      title: `ADK agent, scripted model, ${SCRIPT.count} partials, ${CONCURRENCY} at once`,
      columns: [
        { key: "perSecond", title: "tasks/s", format: "rate" },
        { key: "toRunner", title: "× runner", format: "ratio" },
        { key: "toRival", title: "× adk-toA2a", format: "ratio" },
        { key: "p50", title: "p50 ms", format: "ms" },
        { key: "p99", title: "p99 ms", format: "ms" },
        { key: "cpu", title: "cpu µs", format: "us" },
        { key: "events", title: "events", format: "count" },
      ],
      rows,
    },
  ];
}
