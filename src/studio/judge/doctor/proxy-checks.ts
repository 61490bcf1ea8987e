import { viewEvent } from "../acts/assertions.ts";
import { readAllPaths } from "../acts/expressions.ts";
import { sendHttp } from "../acts/http-transport.ts";
import { callOperation, fail, formatError, NotVerified } from "../acts/test-run.ts";
import { defineRules, MISSING_TASK_ERROR, UNKNOWN_TASK, type StreamSample } from "../rules/rule.ts";
import { STREAM_RULES } from "../rules/stream-rules.ts";
import { warn, type Check } from "./check.ts";
import { toChecks, type Deployment } from "./deployment.ts";

/** Time in milliseconds that the agent must work, so that buffering becomes visible. */
const MIN_WORK_MS = 300;
/** Differences of clocks in seconds. Many servers reject tokens after a minute. */
const WARNING_CLOCK_S = 5;
const PROBLEM_CLOCK_S = 60;

/** Checks of what is between the client and the agent. */
export const PROXY_CHECKS: readonly Check<Deployment>[] = [
  ...defineRules<Deployment, string>({
    async "DEPLOY-VERSION-HEADER"({ run, call }) {
      const unknown = { ...run, context: { ...run.context, specVersion: "99.0" } };
      const { error, status } = await callOperation(unknown, "get_task", { id: UNKNOWN_TASK });
      if (error?.error_type === "VersionNotSupportedError") return "The server rejects the version 99.0.";
      if (status === 401 || status === 403)
        throw new NotVerified("The agent requires credentials (--bearer).");
      const { error: usual } = await call("get_task", { id: UNKNOWN_TASK });
      if (usual?.error_type === MISSING_TASK_ERROR)
        warn("The server accepts the version 99.0, or a proxy sets the header to 1.0.");
      return fail(`The server does not see the version: ${usual ? formatError(usual) : "no error"}`);
    },
  }),
  ...toChecks("ANY-MEDIA", "ANY-STREAM-MEDIA", "ANY-STREAM-SHAPE"),
  ...defineRules<Deployment, string>({
    async "DEPLOY-STREAM-CUT"(deployment) {
      const { problem, startedAt, endedAt } = await deployment.streamSample();
      const seconds = ((endedAt - startedAt) / 1000).toFixed(1);
      if (problem !== undefined) fail(`The stream ended after ${seconds} s. ${problem}`);
      await STREAM_RULES.find(({ id }) => id === "ANY-STREAM-END")?.check(deployment);
      return `The stream was complete after ${seconds} s. Only a longer answer (--message) shows a later cut.`;
    },
    async "DEPLOY-BUFFERING"({ streamSample }) {
      const sample = await streamSample();
      const encoding = sample.reply.headers["content-encoding"];
      if (encoding !== undefined && encoding !== "identity")
        warn(`The stream is compressed with ${encoding}, which can hold back events.`);
      return judgeArrivals(sample);
    },
    async "DEPLOY-CORS"({ interfaceUrl, binding }) {
      if (interfaceUrl === undefined || binding === "grpc")
        throw new NotVerified("The agent has no HTTP binding.");
      const origin = "https://colloquy-doctor.example";
      const { status, headers } = await sendHttp({
        method: "OPTIONS",
        url: interfaceUrl,
        headers: {
          origin,
          "access-control-request-method": "POST",
          "access-control-request-headers": "a2a-version,content-type",
        },
        signal: AbortSignal.timeout(10_000),
      });
      const allowed = headers.get("access-control-allow-origin");
      if (allowed === null) return "Pages of other origins cannot call the agent.";
      if (allowed.includes(",")) fail(`Access-Control-Allow-Origin has two values: ${allowed}.`);
      if (allowed === origin && headers.get("access-control-allow-credentials") === "true")
        fail("Each page of the web may call the agent with the cookies of its user.");
      if (allowed !== origin && allowed !== "*") return `Only pages of ${allowed} can call the agent.`;
      const names = (headers.get("access-control-allow-headers") ?? "").toLowerCase().split(/ ?, ?/);
      const isComplete =
        names.includes("*") || (names.includes("a2a-version") && names.includes("content-type"));
      if (status >= 300 || !isComplete)
        warn(`Pages may not send the headers A2A-Version and Content-Type (status ${status}).`);
      return "Pages of all origins can call the agent, without cookies.";
    },
    async "DEPLOY-CLOCK"({ call, options: { wallClock = Date.now } }) {
      const before = wallClock();
      const { headers } = await call("get_task", { id: UNKNOWN_TASK });
      const date = Date.parse(headers["date"] ?? "");
      // A cache repeats the date of the first response.
      if (Number.isNaN(date) || headers["age"] !== undefined)
        throw new NotVerified("The reply has no current date.");
      // The header has no milliseconds.
      const seconds = Math.max(0, before - (date + 1000), date - wallClock()) / 1000;
      const seen = `The clocks differ by ${seconds.toFixed(0)} s.`;
      if (seconds > PROBLEM_CLOCK_S) fail(seen);
      return seconds > WARNING_CLOCK_S ? warn(seen) : seen;
    },
  }),
];

/**
 * Compares the time in which the events arrived with the time between the first and the last timestamp of the agent. A
 * late first event proves nothing, because an agent may send it late.
 */
function judgeArrivals({ events, arrivals, endedAt }: StreamSample): string {
  const stamps = readAllPaths(events.map(viewEvent), "[*].status.timestamp");
  const times = stamps.map((text) => Date.parse(String(text)));
  const workMs = Math.max(...times) - Math.min(...times);
  const arrivalMs = endedAt - (arrivals[0] ?? endedAt);
  // Without two timestamps, the difference is not a positive number.
  if (!(workMs >= MIN_WORK_MS))
    throw new NotVerified("The agent answers too fast. Pass --message with a text that takes longer.");
  const seen = `The agent worked ${workMs} ms, and its ${events.length} events arrived within ${Math.round(arrivalMs)} ms.`;
  return arrivalMs < workMs / 4 ? fail(seen) : seen;
}
