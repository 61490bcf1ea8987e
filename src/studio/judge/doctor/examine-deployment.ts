import { getInterfaceOrigin } from "../../../client/index.ts";
import { viewEvent } from "../acts/assertions.ts";
import type { Binding } from "../acts/corpus.ts";
import { readAllPaths, readPath } from "../acts/expressions.ts";
import { sendHttp } from "../acts/http-transport.ts";
import { BINDINGS, createTestContext, createTransport } from "../acts/run-suite.ts";
import { callOperation, fail, formatError, NotVerified } from "../acts/test-run.ts";
import { createRequestHeaders } from "../acts/transport.ts";
import { startWebhookReceiver } from "../acts/webhook-receiver.ts";
import { BINDING_NAMES } from "../acts/wire-tables.ts";
import { findAgent, type FoundAgent } from "../find-agent.ts";
import {
  createProbe,
  createRun,
  defineRules,
  MISSING_TASK_ERROR,
  requireCapability,
  type SharedSamples,
  type StreamSample,
  UNKNOWN_TASK,
} from "../rules/rule.ts";
import { STREAM_RULES } from "../rules/stream-rules.ts";
import { type Check, type CheckGroup, type Diagnosis, runChecks, warn } from "./check.ts";
import { classifyHost, judgeAddress } from "./classify-host.ts";
import { type Deployment, type DeploymentOptions, toChecks } from "./deployment.ts";

/** Examines a running agent. Unless `allowsMore` is set, the agent receives one message, and otherwise only reads. */
export async function examineDeployment(options: DeploymentOptions): Promise<readonly Diagnosis[]> {
  const { url, token, trustedOrigins, message, timeoutMs, now } = options;
  const agent = await findAgent(url, token);
  const chosen = chooseInterface(agent);
  const isHere = options.allowsMore && classifyHost(new URL(agent.baseUrl).hostname) === "loopback";
  const webhooks = isHere ? await startWebhookReceiver() : undefined;
  const server = { baseUrl: agent.baseUrl, token, trustedOrigins, behaviors: undefined, webhooks };
  const context = await createTestContext(chosen?.binding ?? "jsonrpc", server);
  // An agent of A2A 0.3 must not receive requests of 1.0.
  const usable = chosen ? context : { ...context, transport: undefined };
  const { cardProblem } = agent;
  const shared: SharedSamples = { message, exchanges: [], cardProblem, timeoutMs, now };
  try {
    return await runChecks(DEPLOYMENT_CHECKS, (exchanges) => {
      const run = createRun(usable, exchanges);
      const probe = createProbe(run, context.card ?? {}, shared);
      return { ...probe, agent, interfaceUrl: chosen?.url, options };
    });
  } finally {
    webhooks?.close();
  }
}

/** Chooses an interface of A2A 1.0, and prefers HTTP, which the checks of proxies need. */
function chooseInterface({ interfaces }: FoundAgent): { binding: Binding; url: string } | undefined {
  for (const binding of BINDINGS)
    for (const { protocolBinding, protocolVersion, url } of interfaces)
      if (protocolBinding === BINDING_NAMES[binding] && protocolVersion.startsWith("1."))
        return { binding, url };
  return undefined;
}

/** Checks of declared capabilities, and of what callers may do. */
const CALLER_CHECKS: readonly Check<Deployment>[] = [
  ...toChecks("ANY-STREAM-DENIED", "ANY-PUSH-DENIED", "ANY-EXTENDED-DENIED", "ANY-AUTH-REQUIRED"),
  ...defineRules<Deployment, string>({
    async "DEPLOY-PUSH"({ card, call }) {
      requireCapability(card, "pushNotifications");
      const { error } = await call("list_push_configs", { taskId: UNKNOWN_TASK });
      if (error && /NotSupported|Unsupported|MethodNotFound|HTTP 404/.test(error.error_type))
        fail(formatError(error));
      return `The server lists webhooks, and returns ${error?.error_type ?? "none"} for an unknown task.`;
    },
    async "DEPLOY-EXTENDED-CARD"({ card, call }) {
      requireCapability(card, "extendedAgentCard");
      const { error, body, status } = await call("get_extended_agent_card", {});
      if (status === 401 || status === 403)
        throw new NotVerified("The extended card requires credentials (--bearer).");
      if (error) fail(formatError(error));
      if (typeof readPath(body, "name") !== "string") fail("The reply is no card.");
      return "The server returns the extended card.";
    },
    async "DEPLOY-OPEN"({ card, call, agent: { baseUrl } }) {
      if (readAllPaths(card, "securityRequirements[*].schemes").length > 0)
        return "The card requires credentials.";
      const { error, body } = await call("list_tasks", {}, { token: null });
      if (error) return `The card requires no credentials, but the server returns ${error.error_type}.`;
      const seen = `Callers without credentials list ${readAllPaths(body, "tasks[*]").length} tasks or more.`;
      return classifyHost(new URL(baseUrl).hostname) === "loopback"
        ? `${seen} Only this machine does.`
        : warn(seen);
    },
  }),
  ...toChecks("RES-PUSH-PRIVATE"),
];

/** Checks of the agent card, and of the addresses that it names. */
const CARD_CHECKS: readonly Check<Deployment>[] = [
  ...toChecks("ANY-CARD-SHAPE", "ANY-CARD-MEDIA", "ANY-CARD-URLS", "ANY-CARD-SECURITY"),
  ...defineRules<Deployment, string>({
    "DEPLOY-ADDRESS"({ agent }) {
      const { origin: cardOrigin } = new URL(agent.baseUrl);
      const origins = [cardOrigin, ...requireInterfaces(agent).map((one) => getInterfaceOrigin(one))];
      const found = origins.flatMap((origin) => judgeAddress(agent.baseUrl, origin) ?? []);
      const problem = found.find(({ result }) => result === "problem");
      if (problem) fail(problem.seen);
      if (found[0]) warn(found[0].seen);
      return `The card at ${agent.baseUrl} names ${new Set(origins).size} origins.`;
    },
    async "DEPLOY-INTERFACES"({ agent }) {
      const interfaces = requireInterfaces(agent).filter(({ protocolVersion }) =>
        protocolVersion.startsWith("1."),
      );
      if (interfaces.length === 0)
        warn("The card offers no interface of A2A 1.0, which current clients prefer.");
      const problems: string[] = [];
      for (const { protocolBinding, url } of interfaces) {
        const problem = await findSilence(protocolBinding, url).catch(String);
        if (problem !== undefined) problems.push(`${protocolBinding} at ${url}: ${problem}`);
      }
      return problems.length > 0 ? fail(problems.join(" ")) : `${interfaces.length} interfaces reply.`;
    },
  }),
];

function requireInterfaces({ interfaces }: Deployment["agent"]): Deployment["agent"]["interfaces"] {
  if (interfaces.length === 0) throw new NotVerified("Clients cannot read the card.");
  return interfaces;
}

/** Returns why an interface does not reply to a request without credentials. An error of A2A is a reply. */
async function findSilence(protocolBinding: string, url: string): Promise<string | undefined> {
  const binding = BINDINGS.find((name) => BINDING_NAMES[name] === protocolBinding);
  if (!binding) return undefined;
  const transport = await createTransport(binding, url);
  const options = { headers: createRequestHeaders("1.0"), signal: AbortSignal.timeout(10_000) };
  const { error } = await transport.call("get_task", { id: UNKNOWN_TASK }, options);
  return error && /UNAVAILABLE|\b50[234]\b/.test(error.error_type) ? formatError(error) : undefined;
}

/** Time in milliseconds that the agent must work, so that buffering becomes visible. */
const MIN_WORK_MS = 300;
/** Differences of clocks in seconds. Many servers reject tokens after a minute. */
const WARNING_CLOCK_S = 5;
const PROBLEM_CLOCK_S = 60;

/** Checks of what is between the client and the agent. */
const PROXY_CHECKS: readonly Check<Deployment>[] = [
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

const DEPLOYMENT_CHECKS: readonly CheckGroup<Deployment>[] = [
  { name: "Card and address", checks: CARD_CHECKS },
  { name: "Proxies and clocks", checks: PROXY_CHECKS },
  { name: "Callers and webhooks", checks: CALLER_CHECKS },
];
