import { checkStream, isTerminalState, viewEvent } from "../acts/assertions.ts";
import { MISSING, readAllPaths, readPath } from "../acts/expressions.ts";
import { checkShape } from "../acts/shapes.ts";
import { fail, NotVerified, raise } from "../acts/test-run.ts";
import {
  defineRules,
  declares,
  isEnd,
  MISSING_TASK_ERROR,
  requireCapability,
  UNKNOWN_TASK,
  type Rule,
} from "./rule.ts";

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
export const STREAM_RULES: readonly Rule[] = defineRules({
  async "ANY-SUBSCRIBE-TERMINAL"({ card, finishedTask, expectError }) {
    requireCapability(card, "streaming");
    const { id } = await finishedTask();
    await expectError("subscribe_to_task", { id }, "UnsupportedOperationError");
  },
  async "ANY-SUBSCRIBE-MISSING"({ card, expectError }) {
    requireCapability(card, "streaming");
    await expectError("subscribe_to_task", { id: UNKNOWN_TASK }, MISSING_TASK_ERROR);
  },
  async "ANY-STREAM-SHAPE"({ streamSample }) {
    const { events, problem } = await streamSample();
    if (events.length === 0) fail(problem ?? "The stream has no events.");
    for (const [at, event] of events.entries()) raise(checkShape("StreamResponse", event, `events[${at}]`));
  },
  async "ANY-STREAM-START"({ streamSample }) {
    const { events } = await streamSample();
    const kind = Object.keys(events[0] ?? {})[0];
    if (kind === "message" && events.length > 1)
      fail(`A message is followed by ${events.length - 1} events.`);
    if (kind !== "message" && kind !== "task") fail(`The first event is ${kind ?? "missing"}.`);
  },
  async "ANY-STREAM-END"({ streamSample }) {
    const { events, problem } = await streamSample();
    if (problem !== undefined) fail(problem);
    if (readPath(events[0], "message") !== MISSING) return;
    const states = events.map((event) => readPath(viewEvent(event), "status.state"));
    const last = states.findLast((state) => state !== MISSING);
    if (!isEnd(last)) fail(`The stream ended in the state ${String(last)}.`);
    if (isTerminalState(states.find(isTerminalState)) && !isTerminalState(states.at(-1)))
      fail("The stream has events after the terminal state.");
  },
  async "ANY-STREAM-ORDER"({ streamSample }) {
    const { events } = await streamSample();
    raise(checkStream({ ordering: "monotonic_state" }, events));
    const ids = listTaskIds(events);
    if (ids.length > 1) fail(`The events have the task ids ${ids.join(", ")}.`);
  },
  async "ANY-STREAM-STORED"({ streamSample, expect }) {
    const { events } = await streamSample();
    const [id] = readAllPaths(events, "[*].task.id");
    if (id === undefined) throw new NotVerified("The stream has no task.");
    const task = await expect("get_task", { id });
    assertStored(events, task);
  },
  async "ANY-STREAM-MEDIA"({ streamSample }) {
    const type = (await streamSample()).reply.headers["content-type"] ?? "(none)";
    if (!type.startsWith("text/event-stream")) fail(`The stream has the content type ${type}.`);
  },
  async "ANY-STREAM-DENIED"({ card, createMessage, expectError }) {
    if (declares(card, "streaming")) throw new NotVerified("The card declares streaming.");
    await expectError("send_streaming_message", createMessage(), "UnsupportedOperationError");
  },
});
