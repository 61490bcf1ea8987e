import { checkStream, isTerminalState, viewEvent } from "../acts/assertions.ts";
import { MISSING, readAllPaths, readPath } from "../acts/expressions.ts";
import { checkShape } from "../acts/shapes.ts";
import { fail, NotVerified, raise } from "../acts/test-run.ts";
import { declares, isEnd, MISSING_TASK_ERROR, requireCapability, UNKNOWN_TASK, type Rule } from "./rule.ts";

function readArtifactText(artifact: unknown): string {
  return readAllPaths(artifact, "parts[*].text").join("");
}

/** Merges the artifacts of streamed events into their texts, by artifact id. */
function collectArtifactTexts(events: readonly unknown[]): Map<unknown, string> {
  const texts = new Map<unknown, string>();
  for (const event of events) {
    for (const artifact of readAllPaths(event, "task.artifacts[*]"))
      texts.set(readPath(artifact, "artifactId"), readArtifactText(artifact));
    const update = readPath(event, "artifactUpdate");
    if (update === MISSING) continue;
    const artifact = readPath(update, "artifact");
    const id = readPath(artifact, "artifactId");
    const earlier = readPath(update, "append") === true ? (texts.get(id) ?? "") : "";
    texts.set(id, earlier + readArtifactText(artifact));
  }
  return texts;
}

/** Returns the different ids of the tasks of events. */
export function listTaskIds(events: readonly unknown[]): readonly unknown[] {
  const paths = ["task.id", "statusUpdate.taskId", "artifactUpdate.taskId"];
  return [...new Set(events.flatMap((event) => paths.flatMap((path) => readAllPaths(event, path))))];
}

/** Fails unless a task has the last state and the artifacts of its stream. */
export function assertStored(events: readonly unknown[], task: unknown): void {
  const states = readAllPaths(events.map(viewEvent), "[*].status.state");
  if (readPath(task, "status.state") !== states.at(-1))
    fail(`GetTask returns ${String(readPath(task, "status.state"))} after ${String(states.at(-1))}.`);
  const stored = collectArtifactTexts([{ task }]);
  for (const [artifact, text] of collectArtifactTexts(events))
    if (stored.get(artifact) !== text)
      fail(`The artifact ${String(artifact)} has another text than the stream of the task.`);
}

/** Rules of streams, which hold whatever the agent answers. */
export const STREAM_RULES: readonly Rule[] = [
  {
    id: "ANY-SUBSCRIBE-TERMINAL",
    level: "must",
    name: "Subscribing to an ended task is an UnsupportedOperationError",
    section: "3.1.6",
    hint: "Reject the subscription before the stream begins.",
    async check({ card, finishedTask, expectError }) {
      requireCapability(card, "streaming");
      const { id } = await finishedTask();
      await expectError("subscribe_to_task", { id }, "UnsupportedOperationError");
    },
  },
  {
    id: "ANY-SUBSCRIBE-MISSING",
    level: "must",
    name: "Subscribing to a task that does not exist is a TaskNotFoundError",
    section: "3.1.6",
    hint: "Look the task up before the stream begins.",
    async check({ card, expectError }) {
      requireCapability(card, "streaming");
      await expectError("subscribe_to_task", { id: UNKNOWN_TASK }, MISSING_TASK_ERROR);
    },
  },
  {
    id: "ANY-STREAM-SHAPE",
    level: "must",
    name: "Each event of a stream is one task, message, status update, or artifact update",
    section: "3.1.2",
    hint: "Compare the events with StreamResponse of A2A 1.0.",
    async check({ streamSample }) {
      const { events, problem } = await streamSample();
      if (events.length === 0) fail(problem ?? "The stream has no events.");
      for (const [at, event] of events.entries()) raise(checkShape("StreamResponse", event, `events[${at}]`));
    },
  },
  {
    id: "ANY-STREAM-START",
    level: "must",
    name: "A stream begins with a task or is one message",
    section: "3.1.2",
    hint: "Send the task before its updates.",
    async check({ streamSample }) {
      const { events } = await streamSample();
      const kind = Object.keys(events[0] ?? {})[0];
      if (kind === "message" && events.length > 1)
        fail(`A message is followed by ${events.length - 1} events.`);
      if (kind !== "message" && kind !== "task") fail(`The first event is ${kind ?? "missing"}.`);
    },
  },
  {
    id: "ANY-STREAM-END",
    level: "must",
    name: "A stream ends after a terminal or an interrupted state, and not before",
    section: "3.1.2",
    hint: "Send the last status update before you close the stream, and close the stream after it.",
    async check({ streamSample }) {
      const { events, problem } = await streamSample();
      if (problem !== undefined) fail(problem);
      if (readPath(events[0], "message") !== MISSING) return;
      const states = events.map((event) => readPath(viewEvent(event), "status.state"));
      const last = states.findLast((state) => state !== MISSING);
      if (!isEnd(last)) fail(`The stream ended in the state ${String(last)}.`);
      if (isTerminalState(states.find(isTerminalState)) && !isTerminalState(states.at(-1)))
        fail("The stream has events after the terminal state.");
    },
  },
  {
    id: "ANY-STREAM-ORDER",
    level: "must",
    name: "The states of a stream are in a possible order, and all events are of one task",
    section: "3.5.2",
    hint: "Send events in the order in which they happened.",
    async check({ streamSample }) {
      const { events } = await streamSample();
      raise(checkStream({ ordering: "monotonic_state" }, events));
      const ids = listTaskIds(events);
      if (ids.length > 1) fail(`The events have the task ids ${ids.join(", ")}.`);
    },
  },
  {
    id: "ANY-STREAM-STORED",
    level: "must",
    name: "After its stream, GetTask returns the state and the artifacts of the stream",
    section: "3.5.2",
    hint: "Store each event before you send it, and append chunks of artifacts only if append is true.",
    async check({ streamSample, expect }) {
      const { events } = await streamSample();
      const [id] = readAllPaths(events, "[*].task.id");
      if (id === undefined) throw new NotVerified("The stream has no task.");
      const task = await expect("get_task", { id });
      assertStored(events, task);
    },
  },
  {
    id: "ANY-STREAM-MEDIA",
    level: "must",
    name: "A stream has the media type text/event-stream",
    section: "9.4.2, 11.7",
    hint: "Set Content-Type: text/event-stream, and check proxies that replace it.",
    bindings: ["jsonrpc", "rest"],
    async check({ streamSample }) {
      const type = (await streamSample()).reply.headers["content-type"] ?? "(none)";
      if (!type.startsWith("text/event-stream")) fail(`The stream has the content type ${type}.`);
    },
  },
  {
    id: "ANY-STREAM-DENIED",
    level: "must",
    name: "Without the streaming capability, streaming operations are UnsupportedOperationErrors",
    section: "3.3.4",
    hint: "Declare streaming, or reject the operation.",
    async check({ card, createMessage, expectError }) {
      if (declares(card, "streaming")) throw new NotVerified("The card declares streaming.");
      await expectError("send_streaming_message", createMessage(), "UnsupportedOperationError");
    },
  },
];
