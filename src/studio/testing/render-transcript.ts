import type { AgentCallReport } from "../../engine/index.ts";
import type { Part } from "../../protocol/index.ts";
import type { ConversationTurn } from "./conversation-turn.ts";

/**
 * Renders a conversation as text that is equal in every run of an agent with equal answers. Ids, times, and tokens are
 * left out.
 */
export function renderTranscript(turns: readonly ConversationTurn[]): string {
  return turns.map(renderTurn).join("\n");
}

function renderTurn({ input, calls = [], artifacts, text, question, state }: ConversationTurn): string {
  const files = artifacts.flatMap(({ parts }) => parts).flatMap(describePart);
  const lines = [
    `user: ${indent(input)}`,
    ...calls.map((call) => `  ${describeCall(call)}`),
    ...(text === "" || text === question ? [] : [`agent: ${indent(text)}`]),
    ...files.map((file) => `  ${file}`),
    ...(question === undefined ? [] : [`agent asks: ${indent(question)}`]),
    `  [${state}]`,
  ];
  return `${lines.join("\n")}\n`;
}

function describeCall(call: AgentCallReport): string {
  const failure = call.error === undefined ? "" : ` failed: ${call.error}`;
  if (call.kind === "model") return `model ${call.model}${failure}`;
  const input = call.arguments === undefined ? "" : JSON.stringify(call.arguments);
  const result = call.result === undefined ? "" : ` -> ${JSON.stringify(call.result)}`;
  return `tool ${call.tool}(${input})${result}${failure}`;
}

function describePart(part: Part): string[] {
  if ("data" in part) return [`data ${JSON.stringify(part.data)}`];
  if ("url" in part) return [`file ${part.filename ?? part.url}`];
  return "raw" in part ? [`file ${part.filename ?? part.mediaType ?? "without a name"}`] : [];
}

/** Indents the lines after the first, so that each turn begins at the margin. */
function indent(text: string): string {
  return text.replaceAll("\n", "\n  ");
}
