import { isTerminalState } from "../acts/assertions.ts";
import type { Binding, JsonMap, Level } from "../acts/corpus.ts";
import { readPath } from "../acts/expressions.ts";
import { toOutcome, type TestInfo, type TestResult } from "../acts/run-test.ts";
import {
  callOperation,
  collectEvents,
  fail,
  formatError,
  NotVerified,
  type OperationCallOptions,
  type TestContext,
  type TestRun,
} from "../acts/test-run.ts";
import type { Reply } from "../acts/transport.ts";
import { OLDER_VERSION } from "../acts/wire-tables.ts";
import texts from "./rules.json" with { type: "json" };

/** The text of a rule in rules.json. */
interface RuleText {
  /** The rule as one sentence. */
  readonly name: string;
  /** Default: must. */
  readonly level?: Level;
  /** Section of the A2A specification. Absent for advice beyond the specification. */
  readonly section?: string | undefined;
  /** The usual cause of a failure, or the change that corrects it. */
  readonly hint: string;
  /** Bindings on which the rule is checked. Default: all. */
  readonly bindings?: readonly Binding[];
  /** Whether the rule depends on the wire format or the operations of A2A 1.0. */
  readonly isNewer?: true;
  /** Whether the rule sends more than the message of the sample: other messages, webhooks, or large requests. */
  readonly needsMore?: true;
}

/** A rule of A2A that holds for every agent, whatever the agent answers, or a check of the doctor. */
export interface Rule<S = Probe, R = void> extends RuleText {
  readonly id: string;
  readonly check: (subject: S) => Promise<R> | R;
}

/** Creates rules from their checks. The texts of the rules are in rules.json. */
export function defineRules<S = Probe, R = void>(
  checks: Readonly<Record<string, (subject: S) => Promise<R> | R>>,
): readonly Rule<S, R>[] {
  return Object.entries(checks).map(([id, check]) => {
    const text = (texts as Readonly<Record<string, RuleText>>)[id];
    if (!text) throw new Error(`rules.json has no ${id}.`);
    return { id, check, ...text };
  });
}

/** What the agent answered to the message of the run, which the rules share. */
export interface Sample {
  readonly reply: Reply;
  /** The task, if the agent created a task. */
  readonly task: JsonMap | undefined;
}

/** One stream of the agent's answer, which the rules share. */
export interface StreamSample {
  readonly reply: Reply;
  readonly events: readonly unknown[];
  readonly problem: string | undefined;
  /** Times in milliseconds. */
  readonly startedAt: number;
  readonly arrivals: readonly number[];
  readonly endedAt: number;
}

/** What a rule has to check an agent on one binding. */
export interface Probe {
  readonly run: TestRun;
  readonly card: JsonMap;
  readonly cardProblem: string | undefined;
  readonly binding: Binding;
  readonly call: (operation: string, params: JsonMap, options?: OperationCallOptions) => Promise<Reply>;
  /** Calls an operation that must succeed. */
  readonly expect: (operation: string, params: JsonMap) => Promise<unknown>;
  /** Calls an operation that must fail with an error of one of the names. */
  readonly expectError: (operation: string, params: JsonMap, ...names: string[]) => Promise<void>;
  readonly createMessage: (members?: JsonMap) => JsonMap;
  /** Sends the message of the run once per binding. */
  readonly sample: () => Promise<Sample>;
  /** Returns the task of the sample. Without a task, the rule is not verified. */
  readonly sampleTask: () => Promise<TaskSample>;
  /** Returns the task of the sample if the task has ended. */
  readonly finishedTask: () => Promise<TaskSample>;
  readonly streamSample: () => Promise<StreamSample>;
}

export type TaskSample = JsonMap & { readonly id: string };

/** What the rules of one binding share. */
export interface SharedSamples {
  readonly message: string;
  /** Why clients cannot read the card. */
  readonly cardProblem?: string | undefined;
  /** Time limit of the stream in milliseconds. Default: 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Monotonic clock in milliseconds. Default: `performance.now`. */
  readonly now?: (() => number) | undefined;
  /** Whether rules with `needsMore` are checked. Default: false. */
  readonly allowsMore?: boolean | undefined;
  /** Number of messages of rules that the server has accepted. */
  acceptedCount?: number;
  /** Creates the sample. Default: sends the message. */
  readonly takeSample?: ((probe: Probe) => Promise<Sample>) | undefined;
  sample?: Promise<Sample>;
  stream?: Promise<StreamSample>;
  /** The exchanges of the samples, which appear in the results of all rules that use them. */
  readonly exchanges: string[];
}

const MORE = "Pass --yes to send more.";
export const MORE_NEEDED: string = `The check sends other messages, a webhook, or a large request. ${MORE}`;
/** Most rules send messages that servers reject. A server that accepts them receives no more of them. */
const MAX_ACCEPTED = 2;
export const UNKNOWN_TASK = "00000000-0000-4000-8000-00000000dead";
/** Name of the error for a task that does not exist. */
export const MISSING_TASK_ERROR = "TaskNotFoundError";

const INTERRUPTED = /^TASK_STATE_(INPUT_REQUIRED|AUTH_REQUIRED)$/;

/** Returns true if a turn has stopped in the state. */
export function isEnd(state: unknown): boolean {
  return isTerminalState(state) || INTERRUPTED.test(String(state));
}

export function isTerminal(task: unknown): boolean {
  return /^TASK_STATE_(COMPLETED|FAILED|CANCELED|REJECTED)$/.test(String(readPath(task, "status.state")));
}

export function declares(card: JsonMap, capability: string): boolean {
  return readPath(card, `capabilities.${capability}`) === true;
}

export function requireCapability(card: JsonMap, name: string): void {
  if (!declares(card, name)) throw new NotVerified(`The card does not declare ${name}.`);
}

/** Runs a rule. Its result has the form of the result of an ACTS test. */
export async function runRule(
  rule: Rule,
  suite: TestInfo["suite"],
  context: TestContext,
  shared: SharedSamples,
): Promise<TestResult> {
  const start = performance.now();
  const run = createRun(context);
  const outcome = await toOutcome(run, async () => {
    if (!context.card && shared.cardProblem === undefined)
      throw new NotVerified("The agent card is not available.");
    if (rule.needsMore && !shared.allowsMore) throw new NotVerified(MORE_NEEDED);
    await rule.check(createProbe(run, context.card ?? {}, shared));
  });
  const { exchanges = run.exchanges.slice(-2) } = outcome;
  const { id, name, level = "must", section, hint } = rule;
  const prefix = context.specVersion === OLDER_VERSION ? "A2A 0.3" : "A2A";
  return {
    test: {
      id,
      name,
      level,
      suite,
      hint,
      ...(section === undefined ? {} : { spec_ref: `${prefix} §${section}` }),
    },
    durationMs: Math.round(performance.now() - start),
    ...outcome,
    exchanges: exchanges.length === 0 ? shared.exchanges.slice(-2) : exchanges,
  };
}

/** Creates the run of a rule, which has no captures and no webhook. */
export function createRun(context: TestContext, exchanges: string[] = []): TestRun {
  const scope = {
    captures: new Map(),
    variables: {},
    environment: {},
    createUuid: () => crypto.randomUUID(),
  };
  return { context, scope, webhookUrl: undefined, exchanges };
}

export function createProbe(run: TestRun, card: JsonMap, shared: SharedSamples): Probe {
  const { now = () => performance.now(), timeoutMs } = shared;
  const sharedRun: TestRun = { ...run, exchanges: shared.exchanges };
  const createMessage = (members: JsonMap = {}): JsonMap => ({
    message: { role: "ROLE_USER", parts: [{ text: shared.message }], ...members },
  });
  const probe: Probe = {
    run,
    card,
    cardProblem: shared.cardProblem,
    binding: run.context.binding,
    createMessage,
    call: async (operation, params, options) => {
      const isMessage = operation.startsWith("send_") && !shared.allowsMore;
      const { acceptedCount = 0 } = shared;
      if (isMessage && acceptedCount >= MAX_ACCEPTED)
        throw new NotVerified(`The server accepted ${acceptedCount} messages that it should reject. ${MORE}`);
      const reply = await callOperation(run, operation, params, options);
      if (isMessage && !reply.error) shared.acceptedCount = acceptedCount + 1;
      return reply;
    },
    expect: async (operation, params) => {
      const reply = await probe.call(operation, params);
      if (reply.error) fail(`The server returned ${formatError(reply.error)}`);
      return reply.body;
    },
    expectError: async (operation, params, ...names) => {
      const { error, isErrorStreamed } = await probe.call(operation, params);
      // The status of HTTP+JSON is that of the error (A2A §11.6).
      if (isErrorStreamed && probe.binding === "rest")
        fail(`A stream with the status 200 contains the error ${error?.error_type}.`);
      if (!error) fail(`The server accepted the request instead of returning ${names.join(" or ")}.`);
      if (!names.includes(error.error_type))
        fail(`The server returned ${formatError(error)}, not ${names[0]}`);
    },
    sample: () =>
      (shared.sample ??=
        shared.takeSample?.(probe) ??
        callOperation(sharedRun, "send_message", createMessage()).then((reply) => {
          const task = readPath(reply.body, "task");
          const isTask = typeof task === "object" && task !== null;
          return { reply, task: isTask ? (task as JsonMap) : undefined };
        })),
    sampleTask: async () => {
      const { reply, task } = await probe.sample();
      if (reply.error) throw new NotVerified(`The agent answers with ${formatError(reply.error)}`);
      if (typeof task?.["id"] !== "string")
        throw new NotVerified("The agent answers with a message, not a task.");
      return task as TaskSample;
    },
    finishedTask: async () => {
      const task = await probe.sampleTask();
      if (!isTerminal(task))
        throw new NotVerified("The task of the message does not end without more input.");
      return task;
    },
    streamSample: async () => {
      requireCapability(card, "streaming");
      const startedAt = now();
      return await (shared.stream ??= callOperation(sharedRun, "send_streaming_message", createMessage(), {
        timeoutMs,
      }).then(async (reply) => {
        if (reply.error) throw new NotVerified(`The agent answers with ${formatError(reply.error)}`);
        const arrivals: number[] = [];
        const { events, problem } = await collectEvents(reply, undefined, () => arrivals.push(now()));
        return { reply, events, problem, startedAt, arrivals, endedAt: now() };
      }));
    },
  };
  return probe;
}
