import { array, assert, boolean, constantFrom, integer, nat, property, record } from "fast-check";
import { describe, expect, it } from "vitest";
import { loadTrafficModel } from "./load-traffic-model.ts";
import { TrafficModel } from "./traffic-model.ts";
import { interleaveLines, ScriptedWriter } from "./traffic-scenario.fixture.ts";
import type { JsonObject } from "../../../protocol/index.ts";
import type { TrafficLine } from "../traffic-line-types.ts";
import { computeTaskCriticalPath } from "./critical-path.ts";
import { getTaskPeriod } from "./task-activities.ts";
import { buildTrafficSequence } from "./traffic-sequence.ts";
import { buildTrafficGraph } from "./agent-graph.ts";

const TASK = "0190aaaa-0000-7000-8000-000000000001";

function createModel(lines: readonly TrafficLine[]): TrafficModel {
  const model = new TrafficModel();
  for (const line of lines) model.add(line);
  return model;
}

/** Everything that views read from a model, as text. */
function summarizeModel(model: TrafficModel): string {
  return JSON.stringify({
    writers: [...model.writers.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    agents: [...model.agents.keys()].toSorted(),
    exchanges: model.exchanges.map(({ calls, ...exchange }) => ({
      ...exchange,
      calls: calls.map(({ key }) => key),
    })),
    tasks: [...model.tasks.values()]
      .toSorted((a, b) => (a.key < b.key ? -1 : 1))
      .map((task) => ({
        key: task.key,
        agent: task.agent,
        state: task.state,
        states: task.stateChanges,
        usage: task.usage,
        timeline: task.timeline,
        readers: task.readers,
        path: computeTaskCriticalPath(model, task),
      })),
    sequence: buildTrafficSequence(model).items.length,
    graph: buildTrafficGraph(model).edges.length,
  });
}

type ReaderFault = "none" | "gap" | "duplicate" | "cut" | "stalled" | "lost-line";

interface Scenario {
  readonly events: number;
  /** Positions of the users' messages in the log, which servers do not send. */
  readonly messages: readonly number[];
  readonly logFault: "none" | "gap" | "duplicate" | "lost-line";
  readonly readers: readonly {
    readonly fault: ReaderFault;
    readonly at: number;
    readonly statesPosition: boolean;
    readonly vantage: "client" | "tap" | "server";
  }[];
}

/** Writes a task with its log, and the streams of its readers, and injects one fault per reader. */
function writeScenario({ events, messages, logFault, readers }: Scenario): ScriptedWriter[] {
  const clock = { ms: 0 };
  const server = new ScriptedWriter("server", "server", clock);
  const writers = [server];
  const userMessages = new Set(messages.map((at) => 2 + (at % Math.max(1, events - 2))));
  const faultAt = Math.ceil(events / 2);
  let logSeq = 0;
  const log: { readonly seq: number; readonly isMessage: boolean }[] = [];
  for (let at = 1; at <= events; at++) {
    logSeq += 1;
    if (logFault === "gap" && at === faultAt) logSeq += 1;
    if (logFault === "lost-line" && at === faultAt) {
      server.loseLine();
      logSeq += 1;
    }
    const isMessage = userMessages.has(at);
    const state = at === events ? "TASK_STATE_COMPLETED" : "TASK_STATE_WORKING";
    const event =
      at === 1
        ? { task: { id: TASK, status: { state: "TASK_STATE_SUBMITTED" } } }
        : isMessage
          ? { message: { messageId: `m${at}` } }
          : { statusUpdate: { taskId: TASK, status: { state } } };
    const line = { kind: "event", agent: "writer", task_id: TASK, log_seq: logSeq, event } as const;
    server.write(line);
    if (logFault === "duplicate" && at === faultAt) server.write(line);
    log.push({ seq: logSeq, isMessage });
  }
  const sent = log.filter(({ isMessage }) => !isMessage);
  for (const [index, reader] of readers.entries()) {
    const writer = new ScriptedWriter(`reader ${index}`, reader.vantage, clock);
    writers.push(writer);
    writeReader(writer, reader, sent);
  }
  return writers;
}

function writeReader(
  writer: ScriptedWriter,
  { fault, at, statesPosition }: Scenario["readers"][number],
  sent: readonly { readonly seq: number }[],
): void {
  // The fault happens at an inner frame, so that another frame follows.
  const faultAt = 1 + (at % Math.max(1, sent.length - 2));
  let call = "c1";
  let index = 0;
  const open = (after?: number): void => {
    const operation = after === undefined ? "SendStreamingMessage" : "SubscribeToTask";
    writer.write({
      kind: "request",
      call,
      to: "writer",
      binding: "JSONRPC",
      operation,
      task_id: TASK,
      ...(after !== undefined && { after }),
    });
    writer.write({ kind: "response", call, status: 200, duration_ms: 1, is_stream: true });
  };
  open();
  for (const [position, { seq }] of sent.entries()) {
    const isFaulty = position === faultAt && sent.length > 2;
    if (isFaulty && fault === "gap") continue;
    if (isFaulty && fault === "lost-line") {
      index += 1;
      writer.loseLine();
      continue;
    }
    if (isFaulty && (fault === "cut" || fault === "stalled")) {
      writer.write({ kind: "stream-end", call, reason: fault, frames: index });
      call = "c2";
      index = 0;
      open(sent[position - 1]?.seq);
    }
    index += 1;
    const frame = {
      kind: "frame",
      call,
      task_id: TASK,
      index,
      log_seq: seq,
      event_id: String(seq),
      bytes: 10,
      ...(statesPosition && position > 0 && { previous_log_seq: sent[position - 1]?.seq ?? 0 }),
      event: { statusUpdate: { taskId: TASK } },
    } as const;
    writer.write(frame);
    if (isFaulty && fault === "duplicate") {
      index += 1;
      writer.write({ ...frame, index });
    }
  }
  writer.write({ kind: "stream-end", call, reason: "completed", frames: index });
}

const SCENARIO = record({
  events: integer({ min: 4, max: 15 }),
  messages: array(nat(), { maxLength: 3 }),
  logFault: constantFrom("none" as const),
  readers: array(
    record({
      fault: constantFrom<ReaderFault>("none", "gap", "duplicate", "cut", "stalled", "lost-line"),
      at: nat(),
      statesPosition: boolean(),
      vantage: constantFrom("client" as const, "tap" as const, "server" as const),
    }),
    { maxLength: 4 },
  ),
});

describe("the model of a traffic record", () => {
  it("is the same for every interleaving of the writers [E22]", () => {
    assert(
      property(SCENARIO, array(nat(), { minLength: 1, maxLength: 40 }), (scenario, picks) => {
        const writers = writeScenario(scenario).map(({ lines }) => lines);
        const inOrder = summarizeModel(createModel(writers.flat()));
        const lines = interleaveLines(writers, picks);
        expect(summarizeModel(createModel(lines))).toBe(inOrder);
        expect(summarizeModel(createModel([...lines, ...lines]))).toBe(inOrder);
      }),
    );
  });

  it("marks every gap, duplicate, cut, stall, and loss of a reader, and invents none", () => {
    assert(
      property(SCENARIO, array(nat(), { minLength: 1, maxLength: 40 }), (scenario, picks) => {
        const writers = writeScenario(scenario);
        const model = createModel(
          interleaveLines(
            writers.map(({ lines }) => lines),
            picks,
          ),
        );
        const sentFrames =
          scenario.events - new Set(scenario.messages.map((at) => 2 + (at % (scenario.events - 2)))).size;
        const marks = (model.findTask(TASK)?.timeline ?? []).flatMap(({ line, marks: ofLine }) =>
          ofLine.map(({ kind }) => `${line.writer}: ${kind}`),
        );
        const expected = scenario.readers.flatMap(({ fault }, index) => {
          if (fault === "none" || sentFrames <= 2) return [];
          const kinds = {
            gap: ["gap"],
            duplicate: ["duplicate"],
            cut: ["cut", "resume"],
            stalled: ["stall", "resume"],
            "lost-line": ["lost-lines"],
          };
          return kinds[fault].map((kind) => `reader ${index}: ${kind}`);
        });
        expect(marks.toSorted()).toEqual(expected.toSorted());
      }),
    );
  });

  it.each([
    ["gap", [{ kind: "gap", where: "log", from: 4, to: 4 }]],
    ["duplicate", [{ kind: "duplicate", where: "log", logSeq: 4 }]],
    ["lost-line", [{ kind: "lost-lines", lines: 1 }]],
    ["none", []],
  ] as const)("marks the log of a server with the fault %s", (logFault, expected) => {
    const [server] = writeScenario({ events: 8, messages: [2], logFault, readers: [] });
    const task = createModel(server?.lines ?? []).findTask(TASK);
    expect(task?.timeline.flatMap(({ marks }) => marks)).toEqual(expected);
  });

  it("marks a stream that resumes at a wrong event", () => {
    for (const [first, mark] of [
      [4, { kind: "gap", where: "stream", from: 3, to: 3 }],
      [2, { kind: "duplicate", where: "stream", logSeq: 2 }],
    ] as const) {
      const writer = new ScriptedWriter("c", "client", { ms: 0 });
      writer.write({
        kind: "request",
        call: "c1",
        to: "a",
        binding: "JSONRPC",
        operation: "SubscribeToTask",
        task_id: TASK,
        after: 2,
      });
      writer.write({
        kind: "frame",
        call: "c1",
        index: 1,
        log_seq: first,
        event: { statusUpdate: {} },
        bytes: 1,
      });
      const marks = createModel(writer.lines)
        .findTask(TASK)
        ?.timeline.flatMap(({ marks: ofLine }) => ofLine);
      expect(marks).toEqual([{ kind: "resume", after: 2 }, mark]);
    }
  });

  it("marks a dropped frame as a gap, also if no frame follows", () => {
    for (const next of ["frame", "stream-end"] as const) {
      const writer = new ScriptedWriter("t", "tap", { ms: 0 });
      const frame = {
        kind: "frame",
        call: "c1",
        task_id: TASK,
        event: { statusUpdate: {} },
        bytes: 1,
      } as const;
      writer.write({
        kind: "request",
        call: "c1",
        to: "a",
        binding: "GRPC",
        operation: "SendStreamingMessage",
        task_id: TASK,
      });
      writer.write({ ...frame, index: 1 });
      writer.write({ kind: "fault", call: "c1", task_id: TASK, fault: "drop", index: 2 });
      if (next === "frame") writer.write({ ...frame, index: 3 });
      else writer.write({ kind: "stream-end", call: "c1", task_id: TASK, reason: "canceled", frames: 1 });
      const marks = createModel(writer.lines)
        .findTask(TASK)
        ?.timeline.flatMap(({ marks: ofLine }) => ofLine);
      const gaps = marks?.filter(({ kind }) => kind === "gap");
      expect(gaps).toEqual([{ kind: "gap", where: "frames", from: 2, to: 2 }]);
    }
  });

  it("accepts a snapshot in place of missing events", () => {
    const writer = new ScriptedWriter("c", "client", { ms: 0 });
    writer.write({
      kind: "request",
      call: "c1",
      to: "a",
      binding: "JSONRPC",
      operation: "SubscribeToTask",
      task_id: TASK,
    });
    for (const [at, log_seq] of [3, 4, 9, 10].entries())
      writer.write({
        kind: "frame",
        call: "c1",
        index: at + 1,
        log_seq,
        event: log_seq === 9 ? { task: {} } : { statusUpdate: {} },
        bytes: 1,
      });
    expect(createModel(writer.lines).findTask(TASK)?.marks.size).toBe(0);
  });

  it("recognizes repeated events of servers that number nothing by their event id", () => {
    const writer = new ScriptedWriter("tap", "tap", { ms: 0 });
    writer.write({
      kind: "request",
      call: "c1",
      to: "a",
      binding: "JSONRPC",
      operation: "SendStreamingMessage",
    });
    for (const [at, event_id] of ["x", "y", "y"].entries())
      writer.write({ kind: "frame", call: "c1", task_id: TASK, index: at + 1, event_id, bytes: 1 });
    const marks = createModel(writer.lines)
      .findTask(TASK)
      ?.timeline.map(({ marks: ofLine }) => ofLine.map(({ kind }) => kind));
    expect(marks).toEqual([[], [], [], ["duplicate"]]);
  });

  it("marks repeated messages as retries, and repeated reads only after a failure", () => {
    const writer = new ScriptedWriter("c", "server", { ms: 0 });
    const call = (id: string, operation: string, status: number, message_id?: string): void => {
      writer.write({
        kind: "request",
        call: id,
        to: "a",
        binding: "JSONRPC",
        operation,
        task_id: TASK,
        ...(id.startsWith("c") && { vantage: "client" }),
        ...(message_id !== undefined && { message_id }),
      });
      writer.write({
        kind: "response",
        call: id,
        status,
        duration_ms: 1,
        ...(status >= 400 && { error: "failed" }),
      });
    };
    call("c1", "SendMessage", 503, "m1");
    call("c2", "SendMessage", 200, "m1");
    call("c3", "SendMessage", 200, "m2");
    // A process that is the client and the server of a message observes it twice.
    call("s3", "SendMessage", 200, "m2");
    call("c4", "GetTask", 200);
    call("c5", "GetTask", 503);
    call("c6", "GetTask", 200);
    call("c7", "GetTask", 200);
    const timeline = createModel(writer.lines).findTask(TASK)?.timeline ?? [];
    expect(
      timeline.flatMap(({ line, marks }) =>
        marks.map((mark) => [line.kind === "request" && line.call, mark]),
      ),
    ).toEqual([
      ["c2", { kind: "retry", attempt: 2 }],
      ["c6", { kind: "retry", attempt: 2 }],
    ]);
  });

  it("finds the context of a task in the frames of a client, whose first request has none", () => {
    const writer = new ScriptedWriter("c", "client", { ms: 0 });
    writer.write({
      kind: "request",
      call: "c1",
      to: "a",
      binding: "JSONRPC",
      operation: "SendStreamingMessage",
    });
    const event = {
      statusUpdate: { taskId: TASK, contextId: "ctx", status: { state: "TASK_STATE_WORKING" } },
    };
    writer.write({ kind: "frame", call: "c1", index: 1, task_id: TASK, bytes: 1, event });
    expect(createModel(writer.lines).findTask(TASK)?.contextId).toBe("ctx");
  });

  it("separates tasks of different agents with the same short id", () => {
    const writer = new ScriptedWriter("s", "server", { ms: 0 });
    for (const agent of ["a", "b"]) writer.write({ kind: "event", agent, task_id: "1", log_seq: 1 });
    expect([...createModel(writer.lines).tasks.keys()]).toEqual(["a/1", "b/1"]);
  });
});

const CHILD = "0190aaaa-0000-7000-8000-000000000002";

describe("calls between agents", () => {
  const trace = (span: number): string => `00-${"a".repeat(32)}-${String(span).padStart(16, "0")}-01`;

  /** A planner that calls a solver, recorded by a client, by both servers, and by the planner's client. */
  function writeDelegation(link: "parent" | "trace" | "reference", clockErrorMs = 0): ScriptedWriter[] {
    const clock = { ms: 0 };
    const user = new ScriptedWriter("user", "client", clock);
    const planner = new ScriptedWriter("planner server", "server", clock, clockErrorMs);
    const client = new ScriptedWriter("planner client", "client", clock, clockErrorMs);
    const solver = new ScriptedWriter("solver server", "server", clock);
    const send = { kind: "request", binding: "JSONRPC", operation: "SendMessage" } as const;
    const outer = { ...send, to: "planner", message_id: "m1", traceparent: trace(1) };
    const inner = {
      ...send,
      to: "solver",
      message_id: "m2",
      ...(link === "trace" && { traceparent: trace(2), from: "planner" }),
      ...(link === "reference" && { reference_task_ids: [TASK] }),
    };
    const state = (name: string) => ({ statusUpdate: { status: { state: `TASK_STATE_${name}` } } });
    user.write({ ...outer, call: "c1" });
    planner.write({ ...outer, call: "c1" });
    planner.write({
      kind: "event",
      agent: "planner",
      task_id: TASK,
      log_seq: 1,
      event: state("WORKING"),
      traceparent: trace(1),
    });
    clock.ms += 100;
    client.write({
      ...inner,
      call: "c1",
      ...(link === "parent" && { parent: { agent: "planner", task_id: TASK } }),
    });
    solver.write({ ...inner, call: "c1" });
    solver.write({ kind: "event", agent: "solver", task_id: CHILD, log_seq: 1, event: state("WORKING") });
    clock.ms += 300;
    solver.write({
      kind: "model",
      call: "x",
      agent: "solver",
      task_id: CHILD,
      model: "m",
      duration_ms: 200,
      input_tokens: 10,
      output_tokens: 5,
      price: 0.01,
    });
    solver.write({ kind: "event", agent: "solver", task_id: CHILD, log_seq: 2, event: state("COMPLETED") });
    solver.write({ kind: "response", call: "c1", task_id: CHILD, status: 200, duration_ms: 303 });
    client.write({ kind: "response", call: "c1", task_id: CHILD, status: 200, duration_ms: 305 });
    clock.ms += 50;
    planner.write({ kind: "event", agent: "planner", task_id: TASK, log_seq: 2, event: state("COMPLETED") });
    planner.write({ kind: "response", call: "c1", task_id: TASK, status: 200, duration_ms: 460 });
    user.write({ kind: "response", call: "c1", task_id: TASK, status: 200, duration_ms: 462 });
    return [user, planner, client, solver];
  }

  it.each(["parent", "trace", "reference"] as const)(
    "are linked by %s, and observed once per writer",
    (link) => {
      const model = createModel(writeDelegation(link).flatMap(({ lines }) => lines));
      expect(
        model.exchanges.map(({ from, to, taskKey, parentTaskKey, calls }) => [
          from,
          to,
          taskKey,
          parentTaskKey,
          calls.length,
        ]),
      ).toEqual([
        ["user", "planner", TASK, undefined, 2],
        ["planner", "solver", CHILD, TASK, 2],
      ]);
      expect(model.findParentTaskKey(CHILD)).toBe(TASK);
    },
  );

  it("have a critical path without gaps, which enters the task of the other agent", () => {
    const model = createModel(writeDelegation("parent").flatMap(({ lines }) => lines));
    const task = model.findTask(TASK);
    if (!task) throw new Error("The task is missing");
    const steps = computeTaskCriticalPath(model, task);
    const { startMs, endMs } = getTaskPeriod(task);
    expect(steps[0]?.startMs).toBe(startMs);
    expect(steps.at(-1)?.endMs).toBe(endMs);
    for (const [at, step] of steps.slice(1).entries()) expect(step.startMs).toBe(steps[at]?.endMs);
    const durations = steps.map(({ kind, name, startMs: from, endMs: to }) => [
      kind,
      name,
      Math.round(to - from),
    ]);
    expect(durations).toContainEqual(["model", "m", 200]);
    // The record contains no turns, so that it does not show what the agents did besides.
    expect(new Set(steps.map(({ kind, name }) => `${kind} ${name}`))).toEqual(
      new Set(["agent solver", "model m", "unobserved planner"]),
    );
  });

  it("have an observed turn, although the clocks of the log and of the server differ by milliseconds", () => {
    const ids = { v: 1, task_id: TASK, agent: "planner" } as const;
    const turn: TrafficLine = {
      ...ids,
      kind: "turn",
      writer: "server",
      seq: 1,
      at: "2026-11-28T12:00:00.005Z",
      mono_ms: 0,
      phase: "begin",
    };
    const events = ["SUBMITTED", "WORKING", "COMPLETED"].map((name, index): TrafficLine => {
      const event = { statusUpdate: { status: { state: `TASK_STATE_${name}` } } };
      const at = `2026-11-28T12:00:00.00${index}Z`;
      return {
        ...ids,
        kind: "event",
        writer: "log",
        seq: index + 1,
        at,
        mono_ms: index,
        log_seq: index + 1,
        event,
      };
    });
    const model = createModel([...events, turn]);
    const task = model.findTask(TASK);
    if (!task) throw new Error("The task is missing");
    expect(computeTaskCriticalPath(model, task).map(({ kind }) => kind)).toEqual(["own"]);
  });

  it("have own work only within the turns of the agent", () => {
    const clock = { ms: 0 };
    const server = new ScriptedWriter("server", "server", clock);
    const ids = { agent: "planner", task_id: TASK } as const;
    const state = (name: string) => ({ statusUpdate: { status: { state: `TASK_STATE_${name}` } } });
    server.write({ ...ids, kind: "event", log_seq: 1, event: state("WORKING") });
    clock.ms += 20;
    server.write({ ...ids, kind: "turn", phase: "begin" });
    clock.ms += 50;
    server.write({ ...ids, kind: "turn", phase: "end" });
    clock.ms += 30;
    server.write({ ...ids, kind: "event", log_seq: 2, event: state("COMPLETED") });
    const model = createModel(server.lines);
    const task = model.findTask(TASK);
    if (!task) throw new Error("The task is missing");
    const path = computeTaskCriticalPath(model, task);
    expect(path.map(({ kind, startMs, endMs }) => [kind, endMs - startMs])).toEqual([
      ["unobserved", 21],
      ["own", 51],
      ["unobserved", 31],
    ]);
  });

  it("have a path of an agent that only asks, whose turn seems to begin after its question", () => {
    const clock = { ms: 0 };
    const server = new ScriptedWriter("server", "server", clock);
    const ids = { agent: "clerk", task_id: TASK } as const;
    const states = ["SUBMITTED", "INPUT_REQUIRED", "CANCELED"].map((name) => ({
      statusUpdate: { status: { state: `TASK_STATE_${name}` } },
    }));
    for (const [index, event] of states.entries()) {
      if (index === 2) server.write({ ...ids, kind: "turn", phase: "begin" });
      if (index === 2) clock.ms += 500;
      server.write({ ...ids, kind: "event", log_seq: index + 1, event });
    }
    const model = createModel(server.lines);
    const task = model.findTask(TASK);
    const steps = task ? computeTaskCriticalPath(model, task) : [];
    expect(steps.at(-1)).toMatchObject({ kind: "user" });
  });

  it.each(["WORKING", "COMPLETED"])(
    "have the turn after an answer on their path, and not the user, although the next state is %s",
    (next) => {
      const clock = { ms: 0 };
      const server = new ScriptedWriter("server", "server", clock);
      const ids = { agent: "planner", task_id: TASK } as const;
      const write = (log_seq: number, event: JsonObject): void =>
        server.write({ ...ids, kind: "event", log_seq, event });
      const report = (name: string): JsonObject => ({
        statusUpdate: { status: { state: `TASK_STATE_${name}` } },
      });
      write(1, report("WORKING"));
      clock.ms += 100;
      write(2, report("INPUT_REQUIRED"));
      // A turn can be shorter than the difference of the clocks of the log and of the turns.
      server.write({ ...ids, kind: "turn", phase: "begin" });
      server.write({ ...ids, kind: "turn", phase: "end" });
      clock.ms += 1_000;
      write(3, { message: { messageId: "answer", role: "ROLE_USER", parts: [{ text: "Yes" }] } });
      clock.ms += 20;
      server.write({ ...ids, kind: "turn", phase: "begin" });
      clock.ms += 300;
      server.write({ ...ids, kind: "model", call: "m", model: "m", duration_ms: 200 });
      clock.ms += 50;
      write(4, report(next));
      clock.ms += 10;
      write(5, report("COMPLETED"));
      const model = createModel(server.lines);
      const task = model.findTask(TASK);
      if (!task) throw new Error("The task is missing");
      const steps = computeTaskCriticalPath(model, task);
      expect(steps.map(({ kind }) => kind)).toEqual(["unobserved", "user", "queue", "own", "model", "own"]);
      const durations = steps.map(({ startMs, endMs }) => Math.round((endMs - startMs) / 10) * 10);
      expect(durations).toEqual([100, 1_000, 20, 100, 200, next === "WORKING" ? 60 : 50]);
    },
  );

  it("are on the path of a tool that makes them, and not the tool", () => {
    const [user, planner, ...others] = writeDelegation("parent") as [ScriptedWriter, ScriptedWriter];
    planner.write({
      kind: "tool",
      call: "t",
      agent: "planner",
      task_id: TASK,
      tool: "ask_solver",
      duration_ms: 370,
    });
    const lines = [user, planner, ...others].flatMap((writer) => writer.lines);
    const model = createModel(lines);
    const task = model.findTask(TASK);
    const steps = task ? computeTaskCriticalPath(model, task) : [];
    const total = (kind: string): number =>
      steps
        .filter((step) => step.kind === kind)
        .reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);
    expect(total("model")).toBe(200);
    expect(total("tool")).toBeLessThan(100);
  });

  it("have no critical path if the record shows only the log of the task [E26]", () => {
    const lines = writeDelegation("parent").flatMap(({ lines }) => lines);
    const model = createModel(lines.filter(({ kind }) => kind === "event" || kind === "writer"));
    const task = model.findTask(TASK);
    expect(task && computeTaskCriticalPath(model, task)).toEqual([]);
  });

  it("have their observers on the edges of the graph, beginning with the one nearest to the caller", () => {
    const [, planner, client, solver] = writeDelegation("parent");
    const list = (...writers: (ScriptedWriter | undefined)[]): unknown =>
      buildTrafficGraph(createModel(writers.flatMap((writer) => writer?.lines ?? [])))
        .edges.filter(({ kind }) => kind === "a2a")
        .map(({ to, observers }) => [to, ...observers]);
    expect(list(planner, client, solver)).toEqual([
      ["planner", "server"],
      ["solver", "client"],
    ]);
    expect(list(solver)).toEqual([["solver", "server"]]);
  });

  it("add their tokens and their price to the edges of the graph", () => {
    const { edges } = buildTrafficGraph(createModel(writeDelegation("parent").flatMap(({ lines }) => lines)));
    expect(
      edges.map(({ from, to, kind, count, usage }) => [
        from,
        to,
        kind,
        count,
        usage.inputTokens,
        usage.prices,
      ]),
    ).toEqual([
      ["user", "planner", "a2a", 1, 0, {}],
      ["planner", "solver", "a2a", 1, 10, { USD: 0.01 }],
      ["solver", "m", "model", 1, 10, { USD: 0.01 }],
    ]);
  });

  it("correct the clock of another host, so that no request arrives before it was sent", () => {
    for (const errorMs of [-60_000, 60_000]) {
      const lines = writeDelegation("parent", errorMs).flatMap((writer) => writer.lines);
      const { model, clockShiftsMs } = loadTrafficModel(lines.map((line) => ({ type: "traffic", line })));
      expect(clockShiftsMs.get("planner server")).toBeGreaterThan(-errorMs - 5);
      expect(clockShiftsMs.get("planner server")).toBeLessThan(-errorMs + 5);
      for (const { calls } of model.exchanges) {
        const [outer, inner] = calls;
        expect(inner?.request?.timeMs).toBeGreaterThanOrEqual(outer?.request?.timeMs ?? 0);
        expect(inner?.response?.timeMs).toBeLessThanOrEqual(outer?.response?.timeMs ?? 0);
      }
    }
  });
});
