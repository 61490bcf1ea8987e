import { createServer } from "node:http";
import { listenOnFreePort } from "../servers/listen-on-free-port.ts";
import { requireRunningSystem, type BenchmarkContext } from "../benchmark-context.ts";
import { createJobRequest } from "../load/request-template.ts";
import { computeMedianRatio, type ReportTable } from "../report.ts";
import { SCRIPTED_MODEL_REPLY_TEXT } from "../scripted-model-reply.ts";
import { COLLECTOR_URL_VARIABLE, TELEMETRY_SYSTEMS } from "../systems-under-test.ts";
import { LATENCY_COLUMNS, measureThroughputRounds, type LoadTarget } from "./throughput-rounds.ts";

const CONCURRENT_TASK_COUNT = 16;

/**
 * Measures the CPU time that traces add to an ADK agent. The collector runs in the benchmark process, and discards what
 * it receives.
 */
export async function measureTelemetry(bench: BenchmarkContext): Promise<ReportTable[]> {
  const collector = createServer((request, response) => {
    request
      .resume()
      .once("end", () => response.writeHead(200, { "content-type": "application/json" }).end("{}"));
  });
  process.env[COLLECTOR_URL_VARIABLE] = await listenOnFreePort(collector);
  try {
    const results = await bench.runWithStartedSystems(TELEMETRY_SYSTEMS, (systems) =>
      measureThroughputRounds(
        bench,
        TELEMETRY_SYSTEMS.map((name): LoadTarget => {
          const system = requireRunningSystem(systems, name);
          const request = createJobRequest(system.endpoint, "SendStreamingMessage", {
            kind: "turns",
            count: 1,
          });
          return { label: name, system, request, expectedText: SCRIPTED_MODEL_REPLY_TEXT };
        }),
        CONCURRENT_TASK_COUNT,
      ),
    );
    const untraced = results.get("colloquy-adk-untraced");
    const rows = [...results].map(([subject, rounds]) => ({
      subject,
      cells: {
        ...rounds.tableCells,
        cpuToUntraced: computeMedianRatio(rounds.cpuMicros, untraced?.cpuMicros ?? []),
      },
      targets: [],
      checked: rounds.checkedResponseCount,
      faults: rounds.responseFaults,
    }));
    const title = `ADK agent with traces, streamed, ${CONCURRENT_TASK_COUNT} at once`;
    const columns = [
      { key: "perSecond", title: "tasks/s", format: "rate" },
      { key: "cpuToUntraced", title: "cpu × untraced", format: "ratio" },
      ...LATENCY_COLUMNS,
    ] as const;
    return [{ workload: "telemetry", title, columns, rows }];
  } finally {
    collector.close();
  }
}
