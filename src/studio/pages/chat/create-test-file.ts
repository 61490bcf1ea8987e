import {
  formatTaskState,
  getText,
  type JsonObject,
  type Part,
  type TaskState,
} from "../../../protocol/index.ts";
import type { ChatTurn } from "./chat-turn.ts";

/**
 * Returns a conversation as a file of `colloquy test`. The expectations are what the agent did. A turn without an end is
 * left out.
 */
export function createTestFile(name: string, turns: readonly ChatTurn[]): string {
  const tests = [{ name, turns: turns.flatMap((turn, at) => toTestTurn(turn, turns[at + 1])) }];
  return `${JSON.stringify({ tests }, null, 2)}\n`;
}

function toTestTurn(turn: ChatTurn, next: ChatTurn | undefined): JsonObject[] {
  const { task, sent } = turn;
  if (turn.isActive || (task !== undefined && !turn.isTaskOver) || sent.parts.length === 0) return [];
  // A restored turn contains the task as it is now, after the answer to the question of the turn.
  const isAnswered = task !== undefined && next?.task?.id === task.id;
  const isWaiting = isAnswered || turn.isWaiting;
  const state: TaskState | undefined = isAnswered ? "TASK_STATE_INPUT_REQUIRED" : task?.status.state;
  const said = turn.items.flatMap((item) => (item.kind === "message" ? [getText(item.message.parts)] : []));
  const written = turn.items.flatMap((item) =>
    item.kind === "artifact" ? [getText(turn.findArtifact(item.artifactId)?.parts ?? [])] : [],
  );
  const calls = turn.items.flatMap((item) => {
    if (item.kind !== "work" || item.line.kind !== "tool") return [];
    const { tool, arguments: input } = item.line;
    return [{ tool, ...(input === undefined ? {} : { arguments: input }) }];
  });
  const answer = written.filter((text) => text !== "").join("\n");
  const expect: JsonObject = {
    state: state === undefined ? "none" : formatTaskState(state),
    // The text of a failure contains the id of the error, which differs in each run.
    ...(isWaiting
      ? { question: said.at(-1) ?? "" }
      : state === "TASK_STATE_FAILED"
        ? {}
        : { text: answer === "" ? (said.at(-1) ?? "") : answer }),
    ...(calls.length > 0 ? { calls } : {}),
  };
  return [{ send: toInput(sent.parts) as never, expect }];
}

function toInput(parts: readonly Part[]): string | readonly Part[] {
  return parts.every((part) => "text" in part) ? getText(parts) : parts;
}
