import { setTimeout } from "node:timers/promises";
import { connect, type ClientBindingName, type A2AClient } from "../../src/client/index.ts";
import { file, type Message, type StreamResponse } from "../../src/protocol/index.ts";
import { findInstruction, type AgentCall, type Instruction } from "./itk-instruction.ts";
import { createStatusEvent, type Scenario } from "./scenario.ts";

/** The text that the ITK expects at the end of a held task. */
const FINISHED_MARKER = "task-finished";
const HEARTBEATS = 5;
const HEARTBEAT_MS = 2_000;

const BINDINGS: Readonly<Record<string, ClientBindingName>> = {
  JSONRPC: "JSONRPC",
  REST: "HTTP+JSON",
  HTTP_JSON: "HTTP+JSON",
  "HTTP+JSON": "HTTP+JSON",
  GRPC: "GRPC",
};

/** Returns the scenario for the instruction in a message, or `undefined` for any other message. */
export function findItkScenario(message: Message): Scenario | undefined {
  const instruction = findInstruction(message);
  return instruction && ((run) => runInstruction(instruction, run.signal));
}

async function* runInstruction(
  instruction: Instruction,
  signal: AbortSignal,
): AsyncGenerator<ReturnType<typeof createStatusEvent>> {
  yield createStatusEvent("WORKING");
  const words = (await collectResults(instruction, signal)).join("\n");
  if (!isTaskHeld(instruction)) {
    yield createStatusEvent("COMPLETED", words);
    return;
  }
  yield createStatusEvent("WORKING", `${words}\n${FINISHED_MARKER}`);
  for (let beat = 0; beat < HEARTBEATS; beat++) {
    yield createStatusEvent("WORKING");
    await setTimeout(HEARTBEAT_MS, undefined, { signal });
  }
  yield createStatusEvent("COMPLETED", `${words}\n${FINISHED_MARKER}`);
}

/** Returns whether any response in the instruction must leave the task open. */
function isTaskHeld(instruction: Instruction): boolean {
  if (instruction.step === "series") return instruction.instructions.some(isTaskHeld);
  return instruction.step === "return" && instruction.hold;
}

async function collectResults(instruction: Instruction, signal: AbortSignal): Promise<string[]> {
  if (instruction.step === "return") return [instruction.response];
  if (instruction.step === "call") return await callAgent(instruction.call, signal);
  const results: string[] = [];
  for (const step of instruction.instructions) results.push(...(await collectResults(step, signal)));
  return results;
}

/** Sends an instruction to another agent. Resolves with all texts of that agent's response. */
async function callAgent(call: AgentCall, signal: AbortSignal): Promise<string[]> {
  const binding = BINDINGS[call.transport.toUpperCase()];
  if (!binding) throw new Error(`unknown transport ${call.transport}`);
  const remote = await connect(call.cardUri, { binding, allowOlderVersion: true, signal });
  const parts = [
    file(call.instruction, { mediaType: "application/x-protobuf", filename: "instruction.bin" }),
  ];
  const configuration =
    call.pushUrl === undefined ? {} : { taskPushNotificationConfig: createPushConfig(call.pushUrl) };
  const options = { configuration, signal };
  if (call.resubscribe) return await streamAndResubscribe(remote, remote.stream(parts, options), signal);
  if (!call.streaming) return getEventTexts(await remote.send(parts, options));
  const words: string[] = [];
  for await (const event of remote.stream(parts, options)) words.push(...getEventTexts(event));
  return words;
}

function createPushConfig(to: string): { url: string; token: string } {
  const url = /^https?:\/\//.test(to) ? to : `http://${to}`;
  return { url: `${url}/notifications`, token: "itk-token" };
}

/**
 * Leaves a stream after its first event, and subscribes to the task until its final text. On a failure, it
 * cancels the task.
 */
async function streamAndResubscribe(
  remote: A2AClient,
  stream: AsyncIterable<StreamResponse>,
  signal: AbortSignal,
): Promise<string[]> {
  let id = "";
  for await (const event of stream) {
    if ("task" in event) id = event.task.id;
    else if ("statusUpdate" in event) id = event.statusUpdate.taskId;
    break;
  }
  const words: string[] = [];
  for await (const event of remote.tasks.subscribe(id, { signal })) {
    const texts = [
      ...(("task" in event && event.task.history) || []).flatMap(getAgentTexts),
      ...getEventTexts(event),
    ];
    words.push(...texts.map((text) => text.replace(FINISHED_MARKER, "")));
    if (texts.some((text) => text.includes(FINISHED_MARKER))) return words;
  }
  await remote.tasks.cancel(id, { signal });
  return words;
}

function getAgentTexts(message: Message): string[] {
  return message.role === "ROLE_AGENT" ? getMessageTexts(message) : [];
}

/** Returns the texts of an event. */
function getEventTexts(event: StreamResponse): string[] {
  if ("message" in event) return getMessageTexts(event.message);
  const status =
    "task" in event ? event.task.status : "statusUpdate" in event ? event.statusUpdate.status : undefined;
  return status?.message ? getMessageTexts(status.message) : [];
}

function getMessageTexts({ parts }: Message): string[] {
  return parts.flatMap((part) => ("text" in part ? [part.text] : []));
}
