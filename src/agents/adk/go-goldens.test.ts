/**
 * Compares the bridge with the test tables of ADK Go (test/vectors/README.md). Each case agrees, or is listed
 * with a reason in `DIFFERENCES`. A listed case that agrees fails, too.
 */
import { readFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import type { JsonObject, Part, StreamResponse } from "../../protocol/index.ts";
import { createServer } from "../../server/index.ts";
import { adkAgent, type AdkAgentOptions } from "./adk-agent.ts";
import { fromEventMetadata, toActionsMetadata, toEventMetadata } from "./adk-event-metadata.ts";
import type { AdkEvent, AdkRunner, GenaiPart } from "./adk-structural-types.ts";
import {
  buildAgentSkills,
  rewriteInstructionInFirstPerson,
  type AdkAgentLike,
} from "./describe-adk-agent.ts";
import { toA2aParts, toGenaiParts } from "./part-conversion.ts";
import { renderEventAsContextParts, sessionEventsToOutgoingMessages } from "./remote/outgoing-message.ts";
import { StreamAggregator } from "./remote/stream-aggregator.ts";
import { toSessionEvent } from "./to-session-event.ts";

/** An A2A object with its Go type, such as `*a2a.Message`. */
interface GoA2aEvent {
  readonly type: string;
  readonly value: JsonObject;
}

/** A case of ADK Go's tests. Which other members it has depends on its test function. */
interface GoGolden {
  readonly test: string;
  readonly want: unknown;
  readonly [member: string]: unknown;
}

/** What our bridge does with a case, and what Go's test wants, in the same form. */
interface Comparison {
  readonly actual: unknown;
  readonly wanted: unknown;
}

const goldens = readFileSync(new URL("../../../test/vectors/adk-go-goldens.jsonl", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as GoGolden);

const allowedActions = ["escalate", "transferToAgent"] as const;
const aggregatorOptions = { author: "remote", allowedActions, newId: () => "id" };

const createAgent = (kind: string, name: string, description: string, more: object = {}): AdkAgentLike => ({
  [Symbol.for(`google.adk.${kind}`)]: true,
  name,
  description,
  ...more,
});
const inner = [1, 2].map((index) => createAgent("custom", `Inner ${index}`, `Inner ${index} description`));
const tools = [
  { name: "load_artifacts", description: "Loads the artifacts and adds them to the session." },
  { name: "google_search", description: "Performs a Google search to retrieve information from the web." },
];
const unlimited = { maxIterations: Number.MAX_SAFE_INTEGER };
const nested = createAgent("loopAgent", "Nested", "Nested loop", {
  ...unlimited,
  subAgents: [createAgent("llmAgent", "Test LLM", "Test llm"), createAgent("custom", "Leaf", "Leaf agent")],
});
/** The agents of TestGetAgentSkills_LLMAgent. */
const AGENTS: Readonly<Record<string, AdkAgentLike>> = {
  custom_agent: createAgent("custom", "Test", "Test test"),
  llm_with_instruction: createAgent("llmAgent", "Test LLM", "Test llm.", {
    instruction: "You're a helpful agent, only respond with useful information.",
  }),
  llm_with_tools: createAgent("llmAgent", "Test LLM", "Test llm.", { tools }),
  empty_loop_agent: createAgent("loopAgent", "Test", "Test test.", unlimited),
  loop_agent: createAgent("loopAgent", "Test", "Test test.", { maxIterations: 5, subAgents: inner }),
  unlimited_loop_agent: createAgent("loopAgent", "Test", "Test test.", {
    ...unlimited,
    subAgents: inner.slice(0, 1),
  }),
  empty_sequential_agent: createAgent("sequentialAgent", "Test", "Test test."),
  sequential_agent: createAgent("sequentialAgent", "Test", "Test test.", { subAgents: inner }),
  empty_parallel_agent: createAgent("parallelAgent", "Test", "Test test."),
  parallel_agent: createAgent("parallelAgent", "Test", "Test test.", { subAgents: inner }),
  deep_subagents: createAgent("parallelAgent", "Test", "Test test.", { subAgents: [nested] }),
};

const COMPARISONS: Readonly<Record<string, (golden: GoGolden) => Comparison | Promise<Comparison>>> = {
  TestGetAgentSkills_LLMAgent: async ({ test, want }) => {
    const agent = AGENTS[test.split("/")[1] ?? ""];
    if (!agent) throw new Error(`no agent for ${test}`);
    return { actual: await buildAgentSkills(agent, { includeInstructions: true }), wanted: want };
  },
  TestReplacePronouns: ({ input, want }) => ({
    actual: rewriteInstructionInFirstPerson(String(input)),
    wanted: want,
  }),
  TestPartsTwoWayConversion: ({ a2a, genai, lr }) => ({
    actual: [
      toA2aParts([genai as GenaiPart], (id) => ((lr ?? []) as string[]).includes(id)),
      toGenaiParts([a2a as Part]),
    ],
    wanted: [[a2a], [genai]],
  }),
  TestMetadataTwoWayConversion: ({ event, meta }) => ({
    actual: [
      { ...toEventMetadata(event as AdkEvent), ...toActionsMetadata(event as AdkEvent) },
      fromEventMetadata(meta as JsonObject, { allowedActions }),
    ],
    wanted: [meta, event],
  }),
  TestToSessionEvent: ({ input, want }) => ({
    actual: normalizeEvent(toSessionEvent(toStreamResponse(input as GoA2aEvent), aggregatorOptions)),
    wanted: normalizeEvent(want as AdkEvent | null),
  }),
  TestA2AAgentRunProcessor_aggregatePartial: compareAggregation,
  TestRemoteAgent_ADK2A2A: compareAggregation,
  TestRemoteAgent_ADK2ADK: async ({ test, events, noStreaming, escalate, transfer, want }) => {
    const isPerRun = test.endsWith("per-run");
    const options = isPerRun ? { artifacts: "per-run" as const } : {};
    const session = aggregate(await runAgent(events as AdkEvent[], options, noStreaming !== true));
    const { actions = {} } = session.findLast((event) => event.actions) ?? {};
    // One artifact per run is one stored event here, and one event per ADK event in Go.
    const normalize = (from: readonly AdkEvent[]): unknown =>
      isPerRun ? summarizeStored(from) : joinPartialEvents(from).map(normalizeEvent);
    return {
      actual: {
        session: normalize(session.map(omitActions)),
        escalate: actions.escalate === true,
        transfer: actions.transferToAgent ?? "",
      },
      wanted: { session: normalize(want as AdkEvent[]), escalate, transfer },
    };
  },
  TestToMissingRemoteSessionParts: ({ events, remote, ctx, want }) => {
    const [message] = sessionEventsToOutgoingMessages(events as AdkEvent[], { name: String(remote) });
    return { actual: [message.parts, message.contextId ?? ""], wanted: [want, ctx] };
  },
  TestPresentAsUserMessage: ({ input, want }) => ({
    actual: renderEventAsContextParts(input as AdkEvent),
    wanted: (want as AdkEvent | null)?.content?.parts ?? [],
  }),
  TestExecutor_Execute: async ({ events, request, fails, createSessionFails, want, wantErr }) => {
    const { message } = request as { message: JsonObject | null };
    const error = fails === "<nil>" ? undefined : new Error(String(fails));
    const failures = { error, createSessionFails: createSessionFails === true, message };
    const responses = await runAgent(events as AdkEvent[], { artifacts: "per-run" }, true, failures);
    return {
      actual: message ? summarize(responses) : { isError: responses.length === 0 },
      wanted: message ? summarize(nameArtifacts(want as GoA2aEvent[])) : { isError: wantErr },
    };
  },
  TestExecutor_OutputArtifactPerEvent: async ({ events, want }) => ({
    actual: summarize(await runAgent(events as AdkEvent[], {})),
    wanted: summarize(nameArtifacts(want as GoA2aEvent[], events as AdkEvent[])),
  }),
  TestEventProcessor_Process: async ({ events, processed, terminal }) => ({
    actual: summarize(await runAgent(events as AdkEvent[], { artifacts: "per-run" })),
    wanted: summarize(nameArtifacts([...(processed as GoA2aEvent[]), ...(terminal as GoA2aEvent[])])),
  }),
};

/** Cases that differ from ADK Go on purpose, or because ADK Go is wrong. */
const DIFFERENCES: readonly { readonly reason: string; readonly tests: readonly string[] }[] = [
  {
    reason: "A2A data is JSON, so a call in the context is JSON. Go prints its own maps.",
    tests: [
      "TestPresentAsUserMessage/function_call_presented",
      "TestPresentAsUserMessage/function_call_result_presented",
    ],
  },
  {
    reason:
      "The event of a failed task has an errorCode. Without errorCode, ADK counts the event as success.",
    tests: [
      "TestToSessionEvent/task_status_failed_with_single-part_message",
      "TestToSessionEvent/failed_task_with_single-part_text_status",
      "TestToSessionEvent/failed_task_with_a_multi-part_status",
      "TestToSessionEvent/failed_task_status_with_a_multi-part_status",
      "TestToSessionEvent/failed_task_status_metadataIsErrMessageKey_not_in_content",
    ],
  },
  {
    reason: "A failed task accepts no answer, so its calls are not pending, and the event has an errorCode.",
    tests: ["TestToSessionEvent/input-required_task_status_with_err_message_and_long-running_tool"],
  },
  {
    reason: "A peer cannot set the error of a local event. Only the end of a failed task has an errorCode.",
    tests: ["TestMetadataTwoWayConversion/error_code"],
  },
  {
    reason: "The message of a task at work is progress, and no part of the stored answer.",
    tests: ["TestRemoteAgent_ADK2A2A/multiple_tasks"],
  },
  {
    reason: "Actions are also in adk_actions, which ADK for Python reads.",
    tests: ["TestMetadataTwoWayConversion/actions", "TestMetadataTwoWayConversion/composite"],
  },
  {
    reason: "The end of a completed task has skipSummarization, as in ADK for Python.",
    tests: [
      "TestToSessionEvent/task",
      "TestToSessionEvent/completed_task_with_single-part_text_status",
      "TestA2AAgentRunProcessor_aggregatePartial/aggregation_reset_by_final_snapshot",
      "TestRemoteAgent_ADK2A2A/task_with_status_message",
      "TestRemoteAgent_ADK2A2A/task_with_multipart_artifact",
      "TestRemoteAgent_ADK2A2A/task_with_multiple_artifacts",
    ],
  },
  {
    reason: "The rest of the text is a partial event, for readers of partial events (decision 027).",
    tests: [
      "TestA2AAgentRunProcessor_aggregatePartial/[append=false,_lastChunk=true]_results_in_non-partial",
    ],
  },
  {
    reason: "Partial content without a complete event stays in the artifact. Go replaces it with empty data.",
    tests: ["TestEventProcessor_Process/partial_events_parts_marked"],
  },
  {
    reason:
      "Go's executor writes to a queue, which can fail. Our agents yield events, and the engine stores them.",
    tests: ["TestExecutor_Execute/queue_write_fails", "TestExecutor_Execute/agent_run_and_queue_write_fail"],
  },
  {
    reason:
      "Go is wrong: the event that asks must list its call in longRunningToolIds, as in Go's task_in_input_required.",
    tests: [
      "TestRemoteAgent_ADK2ADK/long-running_function_call_artifact-per-run",
      "TestRemoteAgent_ADK2ADK/long-running_function_call_artifact-per-event",
    ],
  },
];

function toStreamResponse({ type, value }: GoA2aEvent): StreamResponse {
  const members: Readonly<Record<string, string>> = {
    "*a2a.Message": "message",
    "*a2a.Task": "task",
    "*a2a.TaskStatusUpdateEvent": "statusUpdate",
    "*a2a.TaskArtifactUpdateEvent": "artifactUpdate",
  };
  // Go writes empty lists as null.
  const text = JSON.stringify(value, (key, member: unknown) =>
    key === "parts" && member === null ? [] : member,
  );
  return { [members[type] ?? type]: JSON.parse(text) as unknown } as unknown as StreamResponse;
}

/**
 * Converts updates of Go's tables, in which artifact ids are random. An update that appends belongs to the
 * artifact before. With one artifact per event, the author of each ADK event identifies the artifact.
 */
function nameArtifacts(updates: readonly GoA2aEvent[], adkEvents?: readonly AdkEvent[]): StreamResponse[] {
  const authors = adkEvents?.map(({ author = "" }) => author).values();
  const chains = new Map<string, number>();
  let count = 0;
  return updates.map(toStreamResponse).map((response) => {
    if (!("artifactUpdate" in response)) return response;
    const { artifactUpdate } = response;
    const { append, lastChunk, artifact } = artifactUpdate;
    const author = authors?.next().value;
    let artifactId: string;
    if (author !== undefined) {
      const chain = chains.get(author) ?? 0;
      artifactId = `${author} ${chain}`;
      if (lastChunk) chains.set(author, chain + 1);
    } else artifactId = `run ${append ? count : ++count}`;
    return { artifactUpdate: { ...artifactUpdate, artifact: { ...artifact, artifactId } } };
  });
}

/** Joins adjacent partial events, because the server may send several in one frame. */
function joinPartialEvents(events: readonly AdkEvent[]): AdkEvent[] {
  const joined: AdkEvent[] = [];
  for (const event of events) {
    const last = joined.at(-1);
    if (!event.partial || !last?.partial) joined.push(event);
    else {
      const parts = [...(last.content?.parts ?? []), ...(event.content?.parts ?? [])];
      joined[joined.length - 1] = {
        ...last,
        content: { role: "model", parts: joinTexts(parts) as GenaiPart[] },
      };
    }
  }
  return joined;
}

function omitActions({ actions: _actions, ...event }: AdkEvent): AdkEvent {
  return event;
}

/** What a session stores of events: their parts in order, and all other members. */
function summarizeStored(events: readonly AdkEvent[]): unknown {
  const stored = events.filter(({ partial }) => !partial).map(normalizeEvent) as AdkEvent[];
  const { content: _, ...others } = Object.assign({}, ...stored) as AdkEvent;
  return { parts: joinTexts(stored.flatMap(({ content }) => content?.parts ?? [])), ...others };
}

/** Joins adjacent parts that contain only text, which readers cannot tell from one part. */
function joinTexts(parts: readonly object[]): unknown[] {
  const joined: unknown[] = [];
  for (const part of parts) {
    const [last, next] = [joined.at(-1), part].map((each) => {
      const isText = each !== undefined && Object.keys(each as object).join() === "text";
      return isText ? (each as { text: string }).text : undefined;
    });
    if (last !== undefined && next !== undefined) joined[joined.length - 1] = { text: last + next };
    else joined.push(part);
  }
  return joined;
}

function aggregate(responses: readonly StreamResponse[]): AdkEvent[] {
  const aggregator = new StreamAggregator(aggregatorOptions);
  return [...responses.flatMap((response) => aggregator.process(response)), ...aggregator.finish()];
}

function compareAggregation({ events, want }: GoGolden): Comparison {
  return {
    actual: aggregate((events as GoA2aEvent[]).map(toStreamResponse)).map(normalizeEvent),
    wanted: (want as AdkEvent[]).map(normalizeEvent),
  };
}

/** Removes the members that name a run, an author, or a task. */
function normalizeEvent(event: AdkEvent | null | undefined): unknown {
  if (!event) return undefined;
  const { author: _author, branch: _branch, invocationId: _invocation, customMetadata, ...rest } = event;
  const custom = Object.entries(customMetadata ?? {}).filter(([key]) => !key.startsWith("a2a:"));
  return JSON.parse(
    JSON.stringify({ ...rest, ...(custom.length > 0 ? { customMetadata: Object.fromEntries(custom) } : {}) }),
  ) as unknown;
}

const servers: { close(options: { graceMs: number }): Promise<void> }[] = [];
afterAll(() => Promise.all(servers.map((server) => server.close({ graceMs: 0 }))));

interface RunFailures {
  /** What the runner throws after its events. */
  readonly error?: Error | undefined;
  readonly createSessionFails?: boolean;
  /** `null` sends a request without a message. */
  readonly message?: JsonObject | null;
}

/** Runs an agent that emits the given ADK events. Resolves with the responses of our server. */
async function runAgent(
  events: readonly AdkEvent[],
  options: AdkAgentOptions,
  streaming = true,
  { error, createSessionFails = false, message = {} }: RunFailures = {},
): Promise<StreamResponse[]> {
  const runner: AdkRunner = {
    appName: "app",
    agent: { name: "app" },
    sessionService: {
      getSession: () => Promise.resolve(createSessionFails ? undefined : {}),
      createSession: () =>
        createSessionFails ? Promise.reject(new Error("session creation failed")) : Promise.resolve({}),
    },
    async *runAsync() {
      yield* events;
      if (error) throw error;
    },
  };
  const server = createServer(
    { app: adkAgent(runner, { exposeErrors: true, ...options }) },
    { store: "memory", mergeChunks: false, observer: {} },
  );
  servers.push(server);
  const params = message && {
    message: { messageId: "u", role: "ROLE_USER", contextId: "C", parts: [{ text: "hi" }] },
  };
  const method = streaming ? "SendStreamingMessage" : "SendMessage";
  const response = await server.fetch(
    new Request("http://localhost/a2a/app", {
      method: "POST",
      headers: { "content-type": "application/json", "a2a-version": "1.0" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: params ?? {} }),
    }),
  );
  const text = await response.text();
  const frames = streaming ? [...text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => data) : [text];
  return frames.map((frame) => (JSON.parse(frame) as { result: StreamResponse }).result);
}

/** The final parts of all artifacts, in order, and the last status, as a conforming client sees them. */
function summarize(responses: readonly StreamResponse[]): unknown {
  const artifacts = new Map<string, Part[]>();
  let status: unknown;
  for (const response of responses) {
    if ("statusUpdate" in response) {
      const { state, message } = response.statusUpdate.status;
      status = { state, ...(message ? { parts: message.parts } : {}) };
    }
    if (!("artifactUpdate" in response)) continue;
    const { artifact, append } = response.artifactUpdate;
    artifacts.set(artifact.artifactId, [
      ...(append ? (artifacts.get(artifact.artifactId) ?? []) : []),
      ...artifact.parts,
    ]);
  }
  return { artifacts: [...artifacts.values()].map(joinTexts), status };
}

describe("a test of ADK Go", () => {
  const titles = goldens.map(({ test, input }, index) => ({
    // The cases of some tests have no names.
    name: test.includes("/") ? test : `${test} ${JSON.stringify(input) ?? index}`,
    golden: goldens[index] as GoGolden,
  }));

  it.each(titles)("$name", async ({ name, golden }) => {
    const [family = ""] = golden.test.split("/");
    const compare = COMPARISONS[family];
    if (!compare) throw new Error(`no comparison for ${family}`);
    const { actual, wanted } = await compare(golden);
    const difference = DIFFERENCES.find(({ tests }) => tests.includes(name));
    if (difference) expect(actual, `agrees, so remove it: ${difference.reason}`).not.toEqual(wanted);
    else expect(actual).toEqual(wanted);
  });

  it("is listed once as a difference, by its name", () => {
    const listed = DIFFERENCES.flatMap(({ tests }) => tests);
    expect(listed).toEqual([...new Set(listed)]);
    expect(listed.filter((name) => !titles.some((title) => title.name === name))).toEqual([]);
  });
});
