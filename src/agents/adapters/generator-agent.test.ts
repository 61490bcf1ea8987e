import { describe, expect, it } from "vitest";
import type { AgentEvent, Run } from "../../engine/index.ts";
import { fold, getText, isEventRefusal, type Message, type Task } from "../../protocol/index.ts";
import {
  agent,
  artifact,
  authRequired,
  chunk,
  data,
  file,
  inputRequired,
  reply,
  status,
  type AgentGenerator,
} from "./index.ts";
import { unstoredRunSteps } from "../../engine/unstored-run-steps.fixture.ts";

const agentDescription = { name: "Test Agent", description: "For tests" };

async function collectAgentEvents(
  work: AgentGenerator,
  run: Run = createFakeRun("hi"),
): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of agent(agentDescription, work).execute(run)) events.push(event);
  return events;
}

function startAgent(work: AgentGenerator): AsyncIterator<AgentEvent> {
  return agent(agentDescription, work).execute(createFakeRun("hi"))[Symbol.asyncIterator]();
}

function waitForImmediate(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const createTextParts = (value: string) => [{ text: value }];

it("passes a turn that is an ordinary object, also if its run is frozen", async () => {
  const texts: string[] = [];
  const generate: AgentGenerator = async function* (turn) {
    const toText: unknown = Reflect.get(turn, "toString");
    texts.push(typeof toText, turn.text, typeof turn.once, String("text" in turn));
    yield "done";
  };
  await collectAgentEvents(generate, Object.freeze(createFakeRun("hi")));
  expect(texts).toEqual(["function", "hi", "function", "true"]);
});

describe("a turn without an answer", () => {
  /** Returns the warnings of the turns, which run at the same time. */
  async function collectWarnings(...generators: AgentGenerator[]): Promise<string[]> {
    const warnings: string[] = [];
    const run = { ...createFakeRun("hi"), reportWarning: (message: string) => warnings.push(message) };
    await Promise.all(generators.map((generate) => collectAgentEvents(generate, run)));
    return warnings;
  }

  it("reports an event that the generator created without yield", async () => {
    const forgotten: AgentGenerator = async function* () {
      yield status("Thinking");
      await waitForImmediate();
      inputRequired("Which city?");
    };
    const answering: AgentGenerator = async function* () {
      yield status("Thinking");
      yield "done";
    };
    expect(await collectWarnings(forgotten, answering)).toEqual([
      "The turn ended without an answer, and the agent did not yield the event of inputRequired(…). Write yield inputRequired(…).",
    ]);
  });

  it("reports nothing if each event was yielded, or was created before the turn", async () => {
    status("created before the turn");
    const silent: AgentGenerator = async function* () {
      yield* [];
      await waitForImmediate();
    };
    const reporting: AgentGenerator = async function* () {
      yield* [status("a"), status("b")];
    };
    const asking: AgentGenerator = async function* () {
      status("forgotten, but the caller receives the question");
      yield inputRequired("Which city?");
    };
    expect(await collectWarnings(silent)).toEqual([]);
    expect(await collectWarnings(silent, reporting, asking)).toEqual([]);
  });
});

describe("values that a generator yields", () => {
  it("strings become one artifact, which ends with its entire content", async () => {
    const events = await collectAgentEvents(async function* () {
      yield "a";
      yield "b";
      yield "c";
    });
    expect(events).toEqual([
      { artifact: { artifactId: "answer", parts: createTextParts("a") } },
      { artifact: { artifactId: "answer", parts: createTextParts("b") }, append: true },
      { artifact: { artifactId: "answer", parts: createTextParts("abc") }, lastChunk: true },
    ]);
  });

  it("strings are sent once with the option `artifacts: pieces`", async () => {
    const generate: AgentGenerator = async function* () {
      yield* ["a", "b", "c"];
    };
    const events: AgentEvent[] = [];
    const pieces = agent(agentDescription, generate, { artifacts: "pieces" });
    for await (const event of pieces.execute(createFakeRun("hi"))) events.push(event);
    const parts = events.flatMap((event) => ("artifact" in event ? event.artifact.parts : []));
    expect(getText(parts)).toBe("abc");
    expect(events.at(-1)).toMatchObject({ append: true, lastChunk: true });
  });

  it("a single string is a complete artifact in one event", async () => {
    const events = await collectAgentEvents(async function* () {
      yield "all";
    });
    expect(events).toEqual([
      { artifact: { artifactId: "answer", parts: createTextParts("all") }, lastChunk: true },
    ]);
  });

  it("a chunk is emitted while the generator waits for its next one", async () => {
    const gate = Promise.withResolvers<void>();
    const events = startAgent(async function* () {
      yield "first";
      await gate.promise;
      yield "second";
      await waitForImmediate();
    });

    expect((await events.next()).value).toEqual({
      artifact: { artifactId: "answer", parts: createTextParts("first") },
    });
    gate.resolve();
    expect((await events.next()).value).toEqual({
      artifact: { artifactId: "answer", parts: createTextParts("second") },
      append: true,
    });
    // The chunk was emitted before the end was known.
    expect((await events.next()).value).toEqual({
      artifact: { artifactId: "answer", parts: createTextParts("firstsecond") },
      lastChunk: true,
    });
    expect((await events.next()).done).toBe(true);
  });

  it("empty strings are ignored", async () => {
    const events = await collectAgentEvents(async function* () {
      yield "";
      yield "a";
      yield "";
    });
    expect(events).toEqual([
      { artifact: { artifactId: "answer", parts: createTextParts("a") }, lastChunk: true },
    ]);
  });

  it("a status keeps its position between the chunks", async () => {
    const events = await collectAgentEvents(async function* () {
      yield "a";
      yield status("Searching…");
      yield "b";
    });
    expect(events).toEqual([
      { artifact: { artifactId: "answer", parts: createTextParts("a") } },
      { status: { state: "TASK_STATE_WORKING", message: { parts: createTextParts("Searching…") } } },
      { artifact: { artifactId: "answer", parts: createTextParts("ab") }, lastChunk: true },
    ]);
  });

  it("files and data are parts of the answer", async () => {
    const events = await collectAgentEvents(async function* () {
      yield data({ rows: 2 });
      yield file(new URL("https://example.com/a.png"), { mediaType: "image/png" });
    });
    expect(foldEvents(events).artifacts).toEqual([
      {
        artifactId: "answer",
        parts: [{ data: { rows: 2 } }, { url: "https://example.com/a.png", mediaType: "image/png" }],
      },
    ]);
  });

  it("a separate artifact is complete, and the answer continues around it", async () => {
    const events = await collectAgentEvents(async function* () {
      yield "see ";
      yield artifact({ name: "report.md" }, "# Report", data(1));
      yield "the report";
    });
    expect(events[1]).toEqual({
      artifact: { artifactId: "report.md", name: "report.md", parts: [{ text: "# Report" }, { data: 1 }] },
      lastChunk: true,
    });
    expect(foldEvents(events).artifacts?.map((it) => it.parts)).toEqual([
      createTextParts("see the report"),
      [{ text: "# Report" }, { data: 1 }],
    ]);
  });

  it("chunks extend a named artifact, which is closed by `last` or at the end", async () => {
    const events = await collectAgentEvents(async function* () {
      yield chunk({ id: "log", name: "Log" }, "one ");
      yield chunk({ id: "other", last: true }, "whole");
      yield chunk("log", "two");
    });
    expect(events).toEqual([
      { artifact: { artifactId: "log", name: "Log", parts: createTextParts("one ") } },
      { artifact: { artifactId: "other", parts: createTextParts("whole") }, lastChunk: true },
      { artifact: { artifactId: "log", name: "Log", parts: createTextParts("one two") }, lastChunk: true },
    ]);
  });

  it("a question ends the turn: the answer is closed, cleanup runs, and no further code runs", async () => {
    let cleaned = false;
    let reached = false;
    const events = await collectAgentEvents(async function* () {
      try {
        yield "Let me see. ";
        yield inputRequired("Which city?");
        reached = true;
      } finally {
        cleaned = true;
      }
    });
    expect(events).toEqual([
      { artifact: { artifactId: "answer", parts: createTextParts("Let me see. ") }, lastChunk: true },
      { status: { state: "TASK_STATE_INPUT_REQUIRED", message: { parts: createTextParts("Which city?") } } },
    ]);
    expect({ cleaned, reached }).toEqual({ cleaned: true, reached: false });
  });

  it("authRequired and reply create agent events", async () => {
    expect(
      await collectAgentEvents(async function* () {
        yield authRequired("Log in at https://example.com");
      }),
    ).toEqual([
      {
        status: {
          state: "TASK_STATE_AUTH_REQUIRED",
          message: { parts: createTextParts("Log in at https://example.com") },
        },
      },
    ]);
    expect(
      await collectAgentEvents(async function* () {
        yield reply("Hi", data(1));
      }),
    ).toEqual([{ message: { parts: [{ text: "Hi" }, { data: 1 }] } }]);
  });

  it("output before a thrown error is emitted first, and closes its artifact", async () => {
    const events = startAgent(async function* () {
      yield "so far";
      throw new Error("broken");
    });
    expect((await events.next()).value).toEqual({
      artifact: { artifactId: "answer", parts: createTextParts("so far") },
    });
    expect((await events.next()).value).toEqual({
      artifact: { artifactId: "answer", parts: createTextParts("so far") },
      lastChunk: true,
    });
    await expect(events.next()).rejects.toThrow("broken");
  });

  it("an invalid value is named in the error", async () => {
    const events = startAgent(async function* () {
      yield 42 as unknown as string;
    });
    await expect(events.next()).rejects.toThrow("The agent yielded 42. Yield text, a part, or an event.");
  });

  it("a reader that leaves triggers the generator's cleanup", async () => {
    let cleaned = false;
    const events = agent(agentDescription, async function* () {
      try {
        yield "a";
        await waitForImmediate();
        yield "b";
      } finally {
        cleaned = true;
      }
    }).execute(createFakeRun("hi"));
    for await (const _ of events) break;
    expect(cleaned).toBe(true);
  });
});

describe("the input of a generator", () => {
  it("contains the text of the message, the conversation, and the run", async () => {
    const run = createFakeRun("Hello");
    const events = await collectAgentEvents(async function* ({ text, message, history, taskId, signal }) {
      yield data({ text, same: message === history.at(-1), taskId, aborted: signal.aborted });
    }, run);
    expect(events).toMatchObject([
      { artifact: { parts: [{ data: { text: "Hello", same: true, taskId: run.taskId, aborted: false } }] } },
    ]);
  });

  it("determines an artifact id that earlier turns have not used", async () => {
    const run = createFakeRun("again");
    run.task.artifacts = [{ artifactId: "answer", parts: [] }];
    const events = await collectAgentEvents(async function* () {
      yield "second";
    }, run);
    expect(events).toMatchObject([{ artifact: { artifactId: "answer-2" } }]);
  });
});

describe("the description of an agent", () => {
  it("is rejected at once if it is not a valid card [A-11]", () => {
    const skill = { id: "s", name: "S", description: "d", tags: [] };
    expect(() => agent({ name: "", description: "", skills: [skill, skill] }, async function* () {})).toThrow(
      'has an invalid description: name must not be empty; skills[1].id "s" is used more than once.',
    );
  });

  it("receives a default skill", () => {
    expect(agent(agentDescription, async function* () {}).describe()).toMatchObject({
      name: "Test Agent",
      skills: [{ id: "test-agent", name: "Test Agent", description: "For tests", tags: ["test-agent"] }],
    });
  });

  it("keeps its own skills", () => {
    const skills = [{ id: "x", name: "X", description: "Does x", tags: ["x"] }];
    const made = agent({ ...agentDescription, skills, version: "2.0.0" }, async function* () {}, {
      respondsWith: "either",
    });
    expect(made.describe()).toMatchObject({ skills, version: "2.0.0" });
    expect(made.respondsWith).toBe("either");
  });
});

function createFakeRun(output: string): Run {
  const message: Message = { messageId: "m-1", role: "ROLE_USER", parts: createTextParts(output) };
  const task: Task = {
    id: "task-1",
    contextId: "context-1",
    status: { state: "TASK_STATE_SUBMITTED" },
    history: [message],
  };
  return {
    taskId: task.id,
    contextId: task.contextId,
    message,
    task,
    attempt: 1,
    caller: { tenant: "", principal: "" },
    configuration: {},
    isStreaming: true,
    metadata: {},
    protocolVersion: "1.0",
    extensions: [],
    ...unstoredRunSteps,
    loadReferencedTasks: () => Promise.resolve([]),
    listInterruptedTasks: () => Promise.resolve([]),
    signal: new AbortController().signal,
  };
}

/** The task as a reader would see it. */
function foldEvents(events: AgentEvent[]): Task {
  const ids = { taskId: "task-1", contextId: "context-1" };
  let task: Task = { id: "task-1", contextId: "context-1", status: { state: "TASK_STATE_WORKING" } };
  for (const event of events) {
    if (!("artifact" in event)) continue;
    const next = fold(task, { artifactUpdate: { ...ids, ...event } });
    if (isEventRefusal(next)) throw new Error(next.refusalReason);
    task = next;
  }
  return task;
}
