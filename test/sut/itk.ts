import { setTimeout } from "node:timers/promises";
import { connect, type ClientBinding, type Remote } from "../../src/client/index.ts";
import { file, type Message, type StreamResponse } from "../../src/protocol/index.ts";
import { instructionIn, type CallAgent, type Instruction } from "./itk-instruction.ts";
import { state, type Play } from "./say.ts";

/** What the ITK looks for in the words of a task that is held. */
const FINISHED = "task-finished";
const BEATS = 5;
const BEAT_MS = 2_000;

const BINDINGS: Readonly<Record<string, ClientBinding>> = {
  JSONRPC: "JSONRPC",
  REST: "HTTP+JSON",
  HTTP_JSON: "HTTP+JSON",
  "HTTP+JSON": "HTTP+JSON",
  GRPC: "GRPC",
};

/** What the ITK asks for by an instruction in the message; undefined for any other message. */
export function byInstruction(message: Message): Play | undefined {
  const instruction = instructionIn(message);
  return instruction && ((run) => follow(instruction, run.signal));
}

async function* follow(
  instruction: Instruction,
  signal: AbortSignal,
): AsyncGenerator<ReturnType<typeof state>> {
  yield state("WORKING");
  const words = (await resultsOf(instruction, signal)).join("\n");
  if (!isHeld(instruction)) {
    yield state("COMPLETED", words);
    return;
  }
  yield state("WORKING", `${words}\n${FINISHED}`);
  for (let beat = 0; beat < BEATS; beat++) {
    yield state("WORKING");
    await setTimeout(BEAT_MS, undefined, { signal });
  }
  yield state("COMPLETED", `${words}\n${FINISHED}`);
}

/** True when any answer in it is to be given without ending the task. */
function isHeld(instruction: Instruction): boolean {
  if (instruction.step === "series") return instruction.instructions.some(isHeld);
  return instruction.step === "return" && instruction.hold;
}

async function resultsOf(instruction: Instruction, signal: AbortSignal): Promise<string[]> {
  if (instruction.step === "return") return [instruction.response];
  if (instruction.step === "call") return await callAgent(instruction.call, signal);
  const results: string[] = [];
  for (const step of instruction.instructions) results.push(...(await resultsOf(step, signal)));
  return results;
}

/** Has another agent follow an instruction; answers all that it says meanwhile. */
async function callAgent(call: CallAgent, signal: AbortSignal): Promise<string[]> {
  const binding = BINDINGS[call.transport.toUpperCase()];
  if (!binding) throw new Error(`there is no transport ${call.transport}`);
  const remote = await connect(call.cardUri, { binding, allowOlder: true, signal });
  const parts = [
    file(call.instruction, { mediaType: "application/x-protobuf", filename: "instruction.bin" }),
  ];
  const configuration = call.pushTo === undefined ? {} : { taskPushNotificationConfig: notify(call.pushTo) };
  const options = { configuration, signal };
  if (call.resubscribe) return await leaveAndReturn(remote, remote.stream(parts, options), signal);
  if (!call.streaming) return wordsOf(await remote.send(parts, options));
  const words: string[] = [];
  for await (const event of remote.stream(parts, options)) words.push(...wordsOf(event));
  return words;
}

function notify(to: string): { url: string; token: string } {
  const url = /^https?:\/\//.test(to) ? to : `http://${to}`;
  return { url: `${url}/notifications`, token: "itk-token" };
}

/** Leaves a stream after its first event, follows the task anew until it has said its last word, and cancels it otherwise. */
async function leaveAndReturn(
  remote: Remote,
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
  for await (const event of remote.task.subscribe(id, { signal })) {
    const said = [
      ...(("task" in event && event.task.history) || []).flatMap(wordsOfAgent),
      ...wordsOf(event),
    ];
    words.push(...said.map((text) => text.replace(FINISHED, "")));
    if (said.some((text) => text.includes(FINISHED))) return words;
  }
  await remote.task.cancel(id, { signal });
  return words;
}

function wordsOfAgent(message: Message): string[] {
  return message.role === "ROLE_AGENT" ? wordsIn(message) : [];
}

/** The texts with which an event tells of itself. */
function wordsOf(event: StreamResponse): string[] {
  if ("message" in event) return wordsIn(event.message);
  const status =
    "task" in event ? event.task.status : "statusUpdate" in event ? event.statusUpdate.status : undefined;
  return status?.message ? wordsIn(status.message) : [];
}

function wordsIn({ parts }: Message): string[] {
  return parts.flatMap((part) => ("text" in part ? [part.text] : []));
}
