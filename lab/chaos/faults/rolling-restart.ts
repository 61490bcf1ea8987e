import { runRollingRestart } from "../../../test/resilience/nodes/rolling-restart.ts";
import type { ChaosFault } from "../chaos-fault.ts";

const STREAMS = 200;

export const fault: ChaosFault = {
  title: `two nodes restart one after the other under ${STREAMS} streams, behind a load balancer that reads /readyz`,
  promise: "No stream breaks, no request fails, and turns continue on the other node.",
  maxSeconds: 180,
  bars: { brokenStreams: 0, failedRequests: 0 },
  async inject({ database, addFigure, addProblem }) {
    const report = await runRollingRestart(database, {
      streams: STREAMS,
      events: 200,
      eventIntervalMs: 50,
      drainMs: 2000,
    });
    for (const failure of report.failures) addProblem(failure);
    addFigure("streams", STREAMS);
    addFigure("brokenStreams", report.brokenStreams);
    addFigure("requests", report.requests);
    addFigure("failedRequests", report.failures.length);
    addFigure("movedTurns", report.movedTurns);
  },
};
