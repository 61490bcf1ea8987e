import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { type JsonObject, type Task, type TaskArtifactUpdateEvent, toBase64 } from "../protocol/index.ts";
import { createServer, type Server } from "../server/index.ts";
import { type AdkAgentOptions, adkAgent } from "./executor.ts";
import type { AdkEvent, AdkRunner, GenaiPart } from "./types.ts";

type Version = "1.0" | "0.3";

/** The frames of ADK Go's bridge as `@a2a-js/sdk` wrote them, without the task and the first status. */
const FRAMES = new Map<string, JsonObject[]>();
const file = new URL("../../test/vectors/adk.jsonl", import.meta.url);
for (const line of readFileSync(file, "utf8").trimEnd().split("\n")) {
  const { id, version, frames } = JSON.parse(line) as { id: string; version: Version; frames: JsonObject[] };
  FRAMES.set(`${id} ${version}`, frames);
}

const says = (...parts: GenaiPart[]): AdkEvent => ({ content: { role: "model", parts } });
const text = (value: string): AdkEvent => says({ text: value });
const piece = (value: string): AdkEvent => ({ ...text(value), partial: true });
const by = (author: string, event: AdkEvent): AdkEvent => ({ ...event, author });
const error = (errorCode: string, errorMessage = "failed"): AdkEvent => ({ errorCode, errorMessage });
const waits = (call: GenaiPart): AdkEvent => ({
  ...says(call),
  longRunningToolIds: [call.functionCall?.id ?? ""],
});
const wrapped = (json: string): GenaiPart => {
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
const weather: GenaiPart = {
  functionCall: { id: "get_weather", name: "weather", args: { city: "Warsaw" } },
};
const pending: GenaiPart = {
  functionResponse: { id: "get_weather", name: "weather", response: { status: "pending" } },
};
const credential: GenaiPart = {
  functionCall: {
    id: "c1",
    name: "adk_request_credential",
    args: { functionCallId: "f1", authConfig: { authScheme: { type: "oauth2" } } },
  },
};
const code = { code: "get_the_answer()", language: "PYTHON" };
const result = { outcome: "OUTCOME_OK", output: "42" };
const perRun = { artifacts: "per-run" } as const;

/** What ADK says, and the options of the bridge. */
const RUNS: readonly [title: string, events: AdkEvent[], options?: AdkAgentOptions][] = [
  ["text [V01]", [text("Hello")]],
  ["a thought [V02]", [says({ text: "Hello", thought: true })]],
  [
    "a file by its address [V03]",
    [says({ fileData: { fileUri: "ftp://cat.com", mimeType: "image/jpeg", displayName: "cat.jpeg" } })],
  ],
  ["a file by its content [V04]", [says({ inlineData: blob })]],
  ["a function call [V06]", [says({ functionCall: call })]],
  ["a function response [V08]", [says({ functionResponse: response })]],
  ["a result of code [V09]", [says({ codeExecutionResult: { outcome: "OUTCOME_OK", output: "4" } })]],
  ["code [V10]", [says({ executableCode: { code: "print(2+2)", language: "PYTHON" } })]],
  ["data [V11]", [says(wrapped('{"arbitrary":"data"}'))]],
  ["data that is no object [V12]", [says(wrapped('[1,"x",null]'))]],
  ["nothing [V13]", []],
  ["actions [V14]", [{ actions: { escalate: true, transferToAgent: "a-2" } }]],
  ["an error [V15]", [error("418", "I'm a teapot")]],
  ["a question [V16]", [waits(weather), says(pending)]],
  ["a question for a credential [V18]", [waits(credential)]],
  ["partials and their whole [V21]", [piece("Hello, "), piece("world!"), text("Hello, world!")]],
  ["partials in one artifact [V22]", [piece("Hello, "), piece("world!"), text("Hello, world!")], perRun],
  ["several parts [V25]", [says({ text: "Hello" }, { text: ", world!" })], perRun],
  [
    "several events [V26]",
    [says({ executableCode: code }), says({ codeExecutionResult: result }), text("The answer is 42")],
    perRun,
  ],
  ["an error alone [V27]", [error("1")], perRun],
  ["two errors [V28]", [error("1", "failed 1"), error("2", "failed 2")], perRun],
  ["text and then an error [V29]", [text("The answer is"), text("42"), error("1")], perRun],
  [
    "a call without an id [V30]",
    [says({ functionCall: { name: "get_weather", args: { city: "Warsaw" } } })],
    perRun,
  ],
  ["a question and text [V31]", [waits(weather), text("This will take a while")], perRun],
  ["two transfers [V32]", [{ actions: { transferToAgent: "a-2" } }, { actions: { transferToAgent: "a-3" } }]],
  [
    "actions and an error [V33]",
    [{ ...text("The answer is"), actions: { escalate: true, transferToAgent: "a-2" } }, error("1")],
    perRun,
  ],
  [
    "two authors [V36]",
    [
      by("1", piece("Agent1: H")),
      by("2", piece("Agent2: W")),
      by("1", text("Agent1: Hello")),
      by("2", text("Agent2: World")),
    ],
  ],
  [
    "a thought that the whole leaves out [V37]",
    [{ ...says({ text: "Thinking...", thought: true }), partial: true }, text("Done")],
  ],
  ["a thought and text [V38]", [says({ text: "Thought part", thought: true }, { text: "Text part" })]],
  ["two chains [V39]", [piece("1.a"), text("1.final"), piece("2.a"), text("2.final")]],
  [
    "a policy [V20]",
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

/** A runner without ADK: it says those events whatever it is told. */
function runnerOf(events: readonly AdkEvent[]): AdkRunner {
  return {
    appName: "app",
    agent: { name: "app" },
    sessionService: { getSession: async () => ({}), createSession: async () => ({}) },
    async *runAsync() {
      yield* events;
    },
  };
}

type Chunk = TaskArtifactUpdateEvent & JsonObject;

/** The task as those have it who do not stream. */
async function taskOf(events: readonly AdkEvent[], options: AdkAgentOptions): Promise<Task> {
  const response = await ask("1.0", "SendMessage", events, options);
  return ((await response.json()) as { result: { task: Task } }).result.task;
}

/** What such an agent answers, frame by frame, in that version of A2A. */
async function framesOf(
  version: Version,
  events: readonly AdkEvent[],
  options: AdkAgentOptions = {},
): Promise<JsonObject[]> {
  const response = await ask(
    version,
    version === "1.0" ? "SendStreamingMessage" : "message/stream",
    events,
    options,
  );
  return untilQuiet(response);
}

async function ask(
  version: Version,
  method: string,
  events: readonly AdkEvent[],
  options: AdkAgentOptions,
): Promise<Response> {
  const server = createServer(
    { app: adkAgent(runnerOf(events), { exposeErrors: true, ...options }) },
    { store: "memory", merge: false },
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

/** To the end of the stream; a stream of 1.0 stays open where the task waits for authorization. */
async function untilQuiet({ body }: Response): Promise<JsonObject[]> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (/AUTH_REQUIRED.*\n\n$/.test(text)) break;
  }
  const frames = [...text.matchAll(/^data: (.*)$/gm)];
  return frames.map(([, data = ""]) => (JSON.parse(data) as { result: JsonObject }).result);
}

interface Meaning {
  /** The parts of the artifacts, in their order, as a reader has them in the end. */
  artifacts: unknown[];
  status: JsonObject | undefined;
}

/** What frames of either version tell a reader who keeps to A2A. */
function meaningOf(frames: readonly JsonObject[]): Meaning {
  const artifacts = new Map<string, JsonObject[]>();
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
    const known = chunk["append"] ? (artifacts.get(artifactId) ?? []) : [];
    for (const part of parts) {
      const last = known.at(-1);
      const [before, more] = [plainText(last), plainText(part)];
      if (chunk["append"] && before !== undefined && more !== undefined) {
        known[known.length - 1] = { ...last, text: before + more };
      } else known.push(part);
    }
    artifacts.set(artifactId, known);
  }
  // Go's partial artifact of a run; ours has only the one that stays.
  artifacts.delete("P");
  return { artifacts: [...artifacts.values()], status };
}

function plainText(part: JsonObject | undefined): string | undefined {
  return typeof part?.["text"] === "string" && part["metadata"] === undefined ? part["text"] : undefined;
}

describe.each(["1.0", "0.3"] as const)("what an ADK agent says, in A2A %s", (version) => {
  it.each(RUNS)("%s", async (title, events, options) => {
    const [, id = ""] = /\[(V\d\d)\]$/.exec(title) ?? [];
    const expected = meaningOf(FRAMES.get(`${id} ${version}`) ?? []);
    const said = meaningOf(await framesOf(version, events, options));
    expect(said.artifacts).toEqual(expected.artifacts);
    // Most vectors leave out the plain end.
    if (expected.status) expect(said.status).toMatchObject(expected.status);
    else expect(said.status?.["state"]).toMatch(/completed$/i);
  });

  it("ends a 0.3 stream with a final status, also where it waits for its user [J18]", async () => {
    const frames = await framesOf("0.3", [waits(weather)]);
    expect(frames.at(-1)).toMatchObject({ final: true, status: { state: "input-required" } });
  });
});

/** Anything that a runner may yield, in any order: pieces, wholes that repeat them or not, calls, errors, silence. */
const anyPart: fc.Arbitrary<GenaiPart> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ text: fc.string({ maxLength: 4 }) }) },
  fc.record({ text: fc.string({ maxLength: 4 }), thought: fc.constant(true) }),
  fc.record({ functionCall: fc.record({ id: fc.constantFrom("c1", "c2"), name: fc.constant("f") }) }),
  fc.record({ functionResponse: fc.record({ id: fc.constantFrom("c1", "c2"), name: fc.constant("f") }) }),
  fc.record({ inlineData: fc.constant(blob) }),
);
const anyEvent: fc.Arbitrary<AdkEvent> = fc
  .record(
    {
      author: fc.constantFrom("a", "b"),
      branch: fc.constantFrom("x", "y"),
      partial: fc.boolean(),
      content: fc.record({
        role: fc.constantFrom("model", "user"),
        parts: fc.array(anyPart, { maxLength: 3 }),
      }),
      longRunningToolIds: fc.constant("c1").map((id) => [id]),
      errorCode: fc.constantFrom("", "", "500"),
      output: fc.constantFrom("done", 0, { n: 1 }),
    },
    { requiredKeys: ["author"] },
  )
  .map(({ errorCode, ...event }) => (errorCode ? { ...event, errorCode } : event));

describe("whatever an ADK agent says", () => {
  it.each(["per-event", "per-run"] as const)(
    "%s: the chunks of each artifact, joined, are what the task has, streamed and not",
    async (artifacts) => {
      await fc.assert(
        fc.asyncProperty(fc.array(anyEvent, { maxLength: 12 }), async (events) => {
          const frames = await framesOf("1.0", events, { artifacts });
          const whole = await taskOf(events, { artifacts });
          const streamed = meaningOf(frames);
          expect(streamed.artifacts).toEqual((whole.artifacts ?? []).map(({ parts }) => parts));
          expect(streamed.status?.["state"]).toBe(whole.status.state);
          const chunks = frames.flatMap(({ artifactUpdate }) => (artifactUpdate as Chunk | undefined) ?? []);
          for (const id of new Set(chunks.map(({ artifact }) => artifact.artifactId))) {
            const own = chunks.filter(({ artifact }) => artifact.artifactId === id);
            expect(own[0]?.append ?? false).toBe(false);
            const last = own.map(({ lastChunk = false }) => lastChunk);
            if (artifacts === "per-event") expect(last).toEqual(own.map((_, at) => at === own.length - 1));
            else expect(last).not.toContain(true);
          }
        }),
        { numRuns: 100 },
      );
    },
  );
});
