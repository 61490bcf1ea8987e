import type { AgentCallReport } from "../../engine/index.ts";
import type { Part } from "../../protocol/index.ts";
import type { ConversationTurn } from "./conversation-turn.ts";
import type { ToolCall } from "./tool-calls.ts";

/**
 * Renders a conversation as text that is equal in every run of an agent with equal answers. Ids, times, and tokens are
 * left out.
 */
export function renderTranscript(turns: readonly ConversationTurn[]): string {
  return turns.map(renderTurn).join("\n");
}

function renderTurn(turn: ConversationTurn): string {
  const { input, calls, toolCalls = [], artifacts, text, question, state } = turn;
  const files = artifacts.flatMap(({ parts }) => parts).flatMap(describePart);
  const lines = [
    `user: ${indent(input)}`,
    ...(calls?.map(describeCall) ?? toolCalls.map(describeToolCall)).map((call) => `  ${call}`),
    ...(text === "" || text === question ? [] : [`agent: ${indent(text)}`]),
    ...files.map((file) => `  ${file}`),
    ...(question === undefined ? [] : [`agent asks: ${indent(question)}`]),
    `  [${state}]`,
  ];
  return `${lines.join("\n")}\n`;
}

function describeCall(call: AgentCallReport): string {
  return call.kind === "model" ? `model ${call.model}${describeFailure(call)}` : describeToolCall(call);
}

function describeToolCall(call: ToolCall): string {
  const input = call.arguments === undefined ? "" : JSON.stringify(call.arguments);
  const result = call.result === undefined ? "" : ` -> ${JSON.stringify(call.result)}`;
  return `tool ${call.tool}(${input})${result}${describeFailure(call)}`;
}

function describeFailure({ error }: { readonly error?: string | undefined }): string {
  return error === undefined ? "" : ` failed: ${error}`;
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
