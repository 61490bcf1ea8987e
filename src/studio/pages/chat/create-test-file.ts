import { formatTaskState, getText, type TaskState } from "../../../protocol/index.ts";
import { createTestTurn, type ObservedTestTurn } from "../../console-api/index.ts";
import type { ChatTurn } from "./chat-turn.ts";

/**
 * Returns a conversation as a file of `colloquy test`. The expectations are what the agent did. A turn without an end is
 * left out.
 */
export function createTestFile(name: string, turns: readonly ChatTurn[]): string {
  const tests = [{ name, turns: turns.flatMap((turn, at) => toTestTurn(turn, turns[at + 1])) }];
  return `${JSON.stringify({ tests }, null, 2)}\n`;
}

function toTestTurn(turn: ChatTurn, next: ChatTurn | undefined): ObservedTestTurn[] {
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
  const calls = turn.items.flatMap((item) =>
    item.kind === "tool" ? [{ tool: item.call.name, arguments: item.call.arguments }] : [],
  );
  const answer = written.filter((text) => text !== "").join("\n");
  const observed = {
    state: state === undefined ? "none" : formatTaskState(state),
    text: answer === "" ? (said.at(-1) ?? "") : answer,
    question: isWaiting ? (said.at(-1) ?? "") : undefined,
    calls: calls.length > 0 ? calls : undefined,
  };
  return [createTestTurn(sent.parts, observed)];
}
