import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { type JsonObject, type Task, type TaskArtifactUpdateEvent, toBase64 } from "../../protocol/index.ts";
import { createServer, type Server } from "../../server/index.ts";
import { type AdkAgentOptions, adkAgent } from "./adk-agent.ts";
import type { AdkEvent, AdkRunner, GenaiPart } from "./adk-structural-types.ts";
import { countRuns } from "../../../test/support/count-runs.ts";

type Version = "1.0" | "0.3";

/** The frames of ADK Go's bridge as written by `@a2a-js/sdk`, without the task and the first status. */
const GO_BRIDGE_FRAMES = new Map<string, JsonObject[]>();
const vectorsFile = new URL("../../../test/vectors/adk.jsonl", import.meta.url);
for (const line of readFileSync(vectorsFile, "utf8").trimEnd().split("\n")) {
  const { id, version, frames } = JSON.parse(line) as { id: string; version: Version; frames: JsonObject[] };
  GO_BRIDGE_FRAMES.set(`${id} ${version}`, frames);
}

const createContentEvent = (...parts: GenaiPart[]): AdkEvent => ({ content: { role: "model", parts } });
const createTextEvent = (value: string): AdkEvent => createContentEvent({ text: value });
const createPartialEvent = (value: string): AdkEvent => ({ ...createTextEvent(value), partial: true });
const withAuthor = (author: string, event: AdkEvent): AdkEvent => ({ ...event, author });
const createErrorEvent = (errorCode: string, errorMessage = "failed"): AdkEvent => ({
  errorCode,
  errorMessage,
});
const createLongRunningEvent = (call: GenaiPart): AdkEvent => ({
  ...createContentEvent(call),
  longRunningToolIds: [call.functionCall?.id ?? ""],
});
const wrapDataPart = (json: string): GenaiPart => {
  const data = toBase64(new TextEncoder().encode(`<a2a_datapart_json>${json}</a2a_datapart_json>`));
  return { inlineData: { mimeType: "text/plain", data } };
};

const blob = { data: "/w==", mimeType: "image/jpeg", displayName: "cat.jpeg" };
const call = { id: "get_weather", name: "GetWeather", args: { city: "Warsaw" } };
const response = {
  id: "get_weather",
  name: "GetWeather",
  scheduling: "INTERRUPT",
  response: { temperature: "7C" },
};
const weatherCall: GenaiPart = {
  functionCall: { id: "get_weather", name: "weather", args: { city: "Warsaw" } },
};
const pendingResponse: GenaiPart = {
  functionResponse: { id: "get_weather", name: "weather", response: { status: "pending" } },
};
const credentialCall: GenaiPart = {
  functionCall: {
    id: "c1",
    name: "adk_request_credential",
    args: { functionCallId: "f1", authConfig: { authScheme: { type: "oauth2" } } },
  },
};
const sampleCode = { code: "get_the_answer()", language: "PYTHON" };
const sampleResult = { outcome: "OUTCOME_OK", output: "42" };
const perRunOptions = { artifacts: "per-run" } as const;

/** ADK events and bridge options of each case. */
const RUN_CASES: readonly [title: string, events: AdkEvent[], options?: AdkAgentOptions][] = [
  ["text [V01]", [createTextEvent("Hello")]],
  ["a thought [V02]", [createContentEvent({ text: "Hello", thought: true })]],
  [
    "a file by URL [V03]",
    [
      createContentEvent({
        fileData: { fileUri: "ftp://cat.com", mimeType: "image/jpeg", displayName: "cat.jpeg" },
      }),
    ],
  ],
  ["a file by its content [V04]", [createContentEvent({ inlineData: blob })]],
  ["a function call [V06]", [createContentEvent({ functionCall: call })]],
  ["a function response [V08]", [createContentEvent({ functionResponse: response })]],
  [
    "a result of code [V09]",
    [createContentEvent({ codeExecutionResult: { outcome: "OUTCOME_OK", output: "4" } })],
  ],
  ["code [V10]", [createContentEvent({ executableCode: { code: "print(2+2)", language: "PYTHON" } })]],
  ["data [V11]", [createContentEvent(wrapDataPart('{"arbitrary":"data"}'))]],
  ["data that is not an object [V12]", [createContentEvent(wrapDataPart('[1,"x",null]'))]],
  ["no events [V13]", []],
  ["actions [V14]", [{ actions: { escalate: true, transferToAgent: "a-2" } }]],
  ["an error [V15]", [createErrorEvent("418", "I'm a teapot")]],
  ["a question [V16]", [createLongRunningEvent(weatherCall), createContentEvent(pendingResponse)]],
  ["a question for a credential [V18]", [createLongRunningEvent(credentialCall)]],
  [
    "partial events and their complete event [V21]",
    [createPartialEvent("Hello, "), createPartialEvent("world!"), createTextEvent("Hello, world!")],
  ],
  [
    "partial events in one artifact [V22]",
    [createPartialEvent("Hello, "), createPartialEvent("world!"), createTextEvent("Hello, world!")],
    perRunOptions,
  ],
  ["several parts [V25]", [createContentEvent({ text: "Hello" }, { text: ", world!" })], perRunOptions],
  [
    "several events [V26]",
    [
      createContentEvent({ executableCode: sampleCode }),
      createContentEvent({ codeExecutionResult: sampleResult }),
      createTextEvent("The answer is 42"),
    ],
    perRunOptions,
  ],
  ["an error alone [V27]", [createErrorEvent("1")], perRunOptions],
  ["two errors [V28]", [createErrorEvent("1", "failed 1"), createErrorEvent("2", "failed 2")], perRunOptions],
  [
    "text and then an error [V29]",
    [createTextEvent("The answer is"), createTextEvent("42"), createErrorEvent("1")],
    perRunOptions,
  ],
  [
    "a call without an id [V30]",
    [createContentEvent({ functionCall: { name: "get_weather", args: { city: "Warsaw" } } })],
    perRunOptions,
  ],
  [
    "a question and text [V31]",
    [createLongRunningEvent(weatherCall), createTextEvent("This will take a while")],
    perRunOptions,
  ],
  ["two transfers [V32]", [{ actions: { transferToAgent: "a-2" } }, { actions: { transferToAgent: "a-3" } }]],
  [
    "actions and an error [V33]",
    [
      { ...createTextEvent("The answer is"), actions: { escalate: true, transferToAgent: "a-2" } },
      createErrorEvent("1"),
    ],
    perRunOptions,
  ],
  [
    "two authors [V36]",
    [
      withAuthor("1", createPartialEvent("Agent1: H")),
      withAuthor("2", createPartialEvent("Agent2: W")),
      withAuthor("1", createTextEvent("Agent1: Hello")),
      withAuthor("2", createTextEvent("Agent2: World")),
    ],
  ],
  [
    "a thought that the complete event omits [V37]",
    [
      { ...createContentEvent({ text: "Thinking...", thought: true }), partial: true },
      createTextEvent("Done"),
    ],
  ],
  [
    "a thought and text [V38]",
    [createContentEvent({ text: "Thought part", thought: true }, { text: "Text part" })],
  ],
  [
    "two chains [V39]",
    [
      createPartialEvent("1.a"),
      createTextEvent("1.final"),
      createPartialEvent("2.a"),
      createTextEvent("2.final"),
    ],
  ],
  [
    "a rejection by a hook [V20]",
    [],
    {
      beforeRun: () => ({ status: { state: "TASK_STATE_REJECTED", message: { parts: [{ text: "no" }] } } }),
    },
  ],
];

const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close({ graceMs: 0 });
});

/** Returns a runner without ADK that yields the given events for any message. */
function createFakeRunner(events: readonly AdkEvent[]): AdkRunner {
  return {
    appName: "app",
    agent: { name: "app" },
    sessionService: { getSession: async () => ({}), createSession: async () => ({}) },
    async *runAsync() {
      yield* events;
    },
  };
}

type ArtifactUpdateFrame = TaskArtifactUpdateEvent & JsonObject;

/** Returns the task that a client receives without streaming. */
async function requestTask(events: readonly AdkEvent[], options: AdkAgentOptions): Promise<Task> {
  const response = await sendRequest("1.0", "SendMessage", events, options);
  return ((await response.json()) as { result: { task: Task } }).result.task;
}

/** Returns the frames that a client receives in an A2A version. */
async function requestFrames(
  version: Version,
  events: readonly AdkEvent[],
  options: AdkAgentOptions = {},
): Promise<JsonObject[]> {
  const response = await sendRequest(
    version,
    version === "1.0" ? "SendStreamingMessage" : "message/stream",
    events,
    options,
  );
  return readFrames(response);
}

async function sendRequest(
  version: Version,
  method: string,
  events: readonly AdkEvent[],
  options: AdkAgentOptions,
): Promise<Response> {
  const server = createServer(
    { app: adkAgent(createFakeRunner(events), { exposeErrors: true, ...options }) },
    { store: "memory", mergeChunks: false },
  );
  servers.push(server);
  const is1 = version === "1.0";
  const message = is1
    ? { messageId: "u", role: "ROLE_USER", contextId: "C", parts: [{ text: "hi" }] }
    : {
        kind: "message",
        messageId: "u",
        role: "user",
        contextId: "C",
        parts: [{ kind: "text", text: "hi" }],
      };
  const response = await server.fetch(
    new Request("http://localhost/a2a/app", {
      method: "POST",
      headers: { "content-type": "application/json", ...(is1 && { "a2a-version": "1.0" }) },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { message } }),
    }),
  );
  return response;
}

/** Reads a stream to its end. A stream of 1.0 stays open when the task waits for authorization. */
async function readFrames({ body }: Response): Promise<JsonObject[]> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (/AUTH_REQUIRED.*\n\n$/.test(text)) break;
  }
  const frames = [...text.matchAll(/^data: (.*)$/gm)];
  return frames.map(([, data = ""]) => (JSON.parse(data) as { result: JsonObject }).result);
}

interface FrameSummary {
  /** The final parts of all artifacts, in order. */
  artifacts: unknown[];
  status: JsonObject | undefined;
  /** The parts and `append` of each last chunk, in order. */
  lastChunks: unknown[];
}

/**
 * Summarizes frames of either version as a conforming client sees them. `joinsText` joins the appended text,
 * as Colloquy's server does in its tasks.
 */
function summarizeFrames(frames: readonly JsonObject[], joinsText = false): FrameSummary {
  const artifacts = new Map<string, JsonObject[]>();
  const lastChunks: unknown[] = [];
  let status: JsonObject | undefined;
  for (const frame of frames) {
    const chunk = (frame["artifactUpdate"] ?? (frame["kind"] === "artifact-update" && frame)) as JsonObject;
    const update = (frame["statusUpdate"] ?? (frame["kind"] === "status-update" && frame)) as JsonObject;
    if (update) {
      const { state, message } = update["status"] as JsonObject;
      status = { state: state as string, metadata: update["metadata"] ?? {} };
      if (message) status["parts"] = (message as JsonObject)["parts"] ?? [];
    }
    if (!chunk) continue;
    const { artifactId, parts } = chunk["artifact"] as { artifactId: string; parts: JsonObject[] };
    if (chunk["lastChunk"] && artifactId !== "P") lastChunks.push([parts, chunk["append"] ?? false]);
    const known = chunk["append"] ? (artifacts.get(artifactId) ?? []) : [];
    for (const part of parts) {
      const last = known.at(-1);
      const [before, more] = [getPlainText(last), getPlainText(part)];
      if (joinsText && chunk["append"] && before !== undefined && more !== undefined) {
        known[known.length - 1] = { ...last, text: before + more };
      } else known.push(part);
    }
    artifacts.set(artifactId, known);
  }
  // Go's partial artifact of a run is removed, because our bridge only has the final artifact.
  artifacts.delete("P");
  return { artifacts: [...artifacts.values()], status, lastChunks };
}

function getPlainText(part: JsonObject | undefined): string | undefined {
  return typeof part?.["text"] === "string" && part["metadata"] === undefined ? part["text"] : undefined;
}

describe.each(["1.0", "0.3"] as const)("the output of an ADK agent in A2A %s", (version) => {
  it.each(RUN_CASES)("%s", async (title, events, options) => {
    const [, id = ""] = /\[(V\d\d)\]$/.exec(title) ?? [];
    const expected = summarizeFrames(GO_BRIDGE_FRAMES.get(`${id} ${version}`) ?? []);
    const summary = summarizeFrames(await requestFrames(version, events, options));
    expect(summary.artifacts).toEqual(expected.artifacts);
    // Each artifact ends with its entire content. Some vectors omit `lastChunk`.
    const wholes = expected.artifacts.map((parts) => [parts, false]);
    expect(summary.lastChunks).toEqual(wholes);
    if (options?.artifacts !== "per-run" && expected.lastChunks.length > 0)
      expect(expected.lastChunks).toEqual(wholes);
    // Most vectors omit a completed status.
    if (expected.status) expect(summary.status).toMatchObject(expected.status);
    else expect(summary.status?.["state"]).toMatch(/completed$/i);
  });

  it("ends a 0.3 stream with a final status, even if the task waits for input [J18]", async () => {
    const frames = await requestFrames("0.3", [createLongRunningEvent(weatherCall)]);
    expect(frames.at(-1)).toMatchObject({ final: true, status: { state: "input-required" } });
  });
});

/** Arbitrary runner events in any order: partial events, complete events, calls, errors, and pauses. */
const arbitraryPart: fc.Arbitrary<GenaiPart> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ text: fc.string({ maxLength: 4 }) }) },
  fc.record({ text: fc.string({ maxLength: 4 }), thought: fc.constant(true) }),
  fc.record({ functionCall: fc.record({ id: fc.constantFrom("c1", "c2"), name: fc.constant("f") }) }),
  fc.record({ functionResponse: fc.record({ id: fc.constantFrom("c1", "c2"), name: fc.constant("f") }) }),
  fc.record({ inlineData: fc.constant(blob) }),
);
const arbitraryEvent: fc.Arbitrary<AdkEvent> = fc
  .record(
    {
      author: fc.constantFrom("a", "b"),
      branch: fc.constantFrom("x", "y"),
      partial: fc.boolean(),
      content: fc.record({
        role: fc.constantFrom("model", "user"),
        parts: fc.array(arbitraryPart, { maxLength: 3 }),
      }),
      longRunningToolIds: fc.constant("c1").map((id) => [id]),
      errorCode: fc.constantFrom("", "", "500"),
      output: fc.constantFrom("done", 0, { n: 1 }),
    },
    { requiredKeys: ["author"] },
  )
  .map(({ errorCode, ...event }) => (errorCode ? { ...event, errorCode } : event));

describe("any output of an ADK agent", () => {
  it.each(["per-event", "per-run", "pieces"] as const)(
    "%s: the folded chunks of each artifact equal the artifact of the task, streamed or not",
    async (artifacts) => {
      await fc.assert(
        fc.asyncProperty(fc.array(arbitraryEvent, { maxLength: 12 }), async (events) => {
          const frames = await requestFrames("1.0", events, { artifacts });
          const task = await requestTask(events, { artifacts });
          const streamed = summarizeFrames(frames, artifacts === "pieces");
          expect(streamed.artifacts).toEqual((task.artifacts ?? []).map(({ parts }) => parts));
          expect(streamed.status?.["state"]).toBe(task.status.state);
          const chunks = frames.flatMap(
            ({ artifactUpdate }) => (artifactUpdate as ArtifactUpdateFrame | undefined) ?? [],
          );
          for (const id of new Set(chunks.map(({ artifact }) => artifact.artifactId))) {
            const ownChunks = chunks.filter(({ artifact }) => artifact.artifactId === id);
            expect(ownChunks[0]?.append ?? false).toBe(false);
            const last = ownChunks.map(({ lastChunk = false }) => lastChunk);
            expect(last).toEqual(ownChunks.map((_, at) => at === ownChunks.length - 1));
          }
          // The order of the artifacts is the order of their first chunks.
          const wholes = (task.artifacts ?? []).map(({ parts }) => JSON.stringify([parts, false]));
          if (artifacts !== "pieces")
            expect(streamed.lastChunks.map((chunk) => JSON.stringify(chunk)).toSorted()).toEqual(
              wholes.toSorted(),
            );
        }),
        { numRuns: countRuns(30, 200) },
      );
    },
  );
});
