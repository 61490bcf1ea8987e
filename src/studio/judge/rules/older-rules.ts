import {
  connect,
  type A2AClient,
  type ClientBindingName,
  type TrustedOrigins,
} from "../../../client/index.ts";
import { A2AError, type ErrorReason, type StreamResponse } from "../../../protocol/index.ts";
import type { Binding } from "../acts/corpus.ts";
import { MISSING, readPath } from "../acts/expressions.ts";
import { sendHttp } from "../acts/http-transport.ts";
import { toOutcome, type TestInfo, type TestResult } from "../acts/run-test.ts";
import { fail, NotVerified } from "../acts/test-run.ts";
import { BINDING_NAMES } from "../acts/wire-tables.ts";
import { UNKNOWN_TASK } from "./rule.ts";

/** Options of `runOlderRules`. */
interface OlderRuleOptions {
  readonly url: string;
  readonly binding: Binding;
  readonly token?: string | undefined;
  readonly trustedOrigins?: TrustedOrigins | undefined;
  readonly message: string;
  readonly isSelected: (rule: { readonly id: string }) => boolean;
  readonly onResult: (result: TestResult) => void;
}

interface OlderProbe {
  readonly client: A2AClient;
  readonly message: string;
  readonly exchanges: string[];
  /** Sends a JSON-RPC request of 0.3, and returns the envelope of the response. */
  readonly post: (method: string, params: unknown) => Promise<unknown>;
}

interface OlderRule {
  readonly id: string;
  readonly name: string;
  readonly section: string;
  readonly hint: string;
  readonly bindings?: readonly Binding[];
  readonly check: (probe: OlderProbe) => Promise<void>;
}

const SUITE: TestInfo["suite"] = { id: "any-agent-0.3", name: "Operations of any agent in A2A 0.3" };
const STATES =
  /^(submitted|working|input-required|completed|canceled|failed|rejected|auth-required|unknown)$/;
const TIME_LIMIT_MS = 30_000;

async function expectReason(pending: Promise<unknown>, reason: ErrorReason): Promise<void> {
  const found = await pending.then(
    () => "no error",
    (error: unknown) => (error instanceof A2AError ? error.reason : String(error)),
  );
  if (found !== reason) fail(`The server returned ${found} instead of ${reason}.`);
}

async function expectCode(
  { post }: OlderProbe,
  method: string,
  params: unknown,
  code: number,
): Promise<void> {
  const found = readPath(await post(method, params), "error.code");
  if (found !== code)
    fail(`The error code is ${found === MISSING ? "missing" : JSON.stringify(found)} instead of ${code}.`);
}

/**
 * Rules of A2A 0.3. On JSON-RPC, the wire format is checked directly. On the other bindings, the client of the library
 * reads the responses without leniency, which rejects what 0.3 forbids.
 */
const OLDER_RULES: readonly OlderRule[] = [
  {
    id: "V03-SEND",
    name: "message/send returns a task or a message with its kind",
    section: "7.1",
    hint: "0.3 marks results with kind: task or message, and spells states in lower case.",
    bindings: ["jsonrpc"],
    async check({ post, message }) {
      const params = {
        message: {
          kind: "message",
          messageId: crypto.randomUUID(),
          role: "user",
          parts: [{ kind: "text", text: message }],
        },
      };
      const result = readPath(await post("message/send", params), "result");
      const kind = readPath(result, "kind");
      if (kind !== "task" && kind !== "message") fail(`The result has the kind ${JSON.stringify(kind)}.`);
      const state = readPath(result, "status.state");
      if (kind === "task" && !STATES.test(String(state))) fail(`The task has the state ${String(state)}.`);
    },
  },
  {
    id: "V03-SEND-READ",
    name: "The result of a message and of GetTask can be read",
    section: "7.1, 7.3",
    hint: "Compare the result with Task and Message of A2A 0.3.",
    async check({ client, message }) {
      const answer = await client.send(message);
      const task = "task" in answer ? answer.task : undefined;
      if (!task) throw new NotVerified("The agent answers with a message, not a task.");
      const found = await client.tasks.get(task.id);
      if (found.status.state !== task.status.state)
        fail(`The task is ${found.status.state} instead of ${task.status.state}.`);
    },
  },
  {
    id: "V03-STREAM",
    name: "message/stream sends at least one event, and all of its events can be read",
    section: "7.2",
    hint: "Compare the events with those of A2A 0.3, and mark the last status update with final: true.",
    async check({ client, message }) {
      const { card } = client;
      if (card.capabilities.streaming !== true) throw new NotVerified("The card does not declare streaming.");
      const events: StreamResponse[] = [];
      for await (const event of client.stream(message)) events.push(event);
      if (events.length === 0) fail("The stream has no events.");
    },
  },
  {
    id: "V03-TASK-MISSING",
    name: "A task that does not exist is a TaskNotFoundError",
    section: "8.2",
    hint: "JSON-RPC: -32001. HTTP+JSON: 404. gRPC: NOT_FOUND.",
    check: ({ client }) => expectReason(client.tasks.get(UNKNOWN_TASK), "TASK_NOT_FOUND"),
  },
  {
    id: "V03-CANCEL-MISSING",
    name: "Canceling a task that does not exist is a TaskNotFoundError",
    section: "8.2",
    hint: "JSON-RPC: -32001. HTTP+JSON: 404. gRPC: NOT_FOUND.",
    check: ({ client }) => expectReason(client.tasks.cancel(UNKNOWN_TASK), "TASK_NOT_FOUND"),
  },
  {
    id: "V03-RPC-CODE",
    name: "The error of a missing task has the code -32001",
    section: "8.2",
    hint: "Use the codes of A2A 0.3, section 8.2.",
    bindings: ["jsonrpc"],
    check: (probe) => expectCode(probe, "tasks/get", { id: UNKNOWN_TASK }, -32_001),
  },
  {
    id: "V03-RPC-METHOD",
    name: "An unknown method is a MethodNotFoundError",
    section: "8.1",
    hint: "Return the code -32601.",
    bindings: ["jsonrpc"],
    check: (probe) => expectCode(probe, "judge/unknown", {}, -32_601),
  },
  {
    id: "V03-RPC-PARAMS",
    name: "Missing parameters are an InvalidParamsError",
    section: "8.1",
    hint: "Return the code -32602.",
    bindings: ["jsonrpc"],
    check: (probe) => expectCode(probe, "message/send", {}, -32_602),
  },
];

/** Checks an agent on one binding of A2A 0.3. */
export async function runOlderRules(options: OlderRuleOptions): Promise<TestResult[]> {
  const { binding, token, isSelected, onResult } = options;
  const results: TestResult[] = [];
  let client: A2AClient | Error;
  try {
    client = await connect(options.url, {
      binding: BINDING_NAMES[binding] as ClientBindingName,
      version: "0.3",
      peerLeniency: "none",
      timeouts: { callMs: TIME_LIMIT_MS, sendMs: TIME_LIMIT_MS },
      ...(token === undefined ? {} : { auth: { bearer: token } }),
      ...(options.trustedOrigins && { trustedOrigins: options.trustedOrigins }),
    });
  } catch (error) {
    client = error instanceof Error ? error : new Error(String(error));
  }
  for (const rule of OLDER_RULES) {
    if (!isSelected(rule) || rule.bindings?.includes(binding) === false) continue;
    const exchanges: string[] = [];
    const start = performance.now();
    const outcome = await toOutcome({ exchanges }, async () => {
      if (client instanceof Error) throw new NotVerified(`The client cannot connect: ${client.message}`);
      try {
        await rule.check(createProbe(client, options, exchanges));
      } catch (error) {
        if (!(error instanceof A2AError)) throw error;
        if (error.reason === "UNAUTHENTICATED") throw new NotVerified("The agent requires credentials.");
        fail(error.message);
      }
    });
    const { id, name, section, hint } = rule;
    const result: TestResult = {
      test: { id, name, level: "must", suite: SUITE, spec_ref: `A2A 0.3 §${section}`, hint },
      durationMs: Math.round(performance.now() - start),
      ...outcome,
    };
    results.push(result);
    onResult(result);
  }
  return results;
}

function createProbe(
  client: A2AClient,
  { message, token }: OlderRuleOptions,
  exchanges: string[],
): OlderProbe {
  return {
    client,
    message,
    exchanges,
    post: async (method, params) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      const response = await sendHttp({
        method: "POST",
        url: client.agentInterface.url,
        headers: {
          "content-type": "application/json",
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
        body,
        signal: AbortSignal.timeout(TIME_LIMIT_MS),
      });
      const text = await response.text();
      exchanges.push(`POST ${body} → ${response.status} ${text.slice(0, 600)}`);
      if (response.status === 401) throw new NotVerified("The agent requires credentials.");
      try {
        return JSON.parse(text) as unknown;
      } catch {
        return fail("The response is not JSON.");
      }
    },
  };
}
