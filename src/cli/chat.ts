import { createInterface } from "node:readline";
import { Command } from "commander";
import {
  isInterrupted,
  type JsonObject,
  type Part,
  type StreamResponse,
  type Task,
} from "../protocol/index.ts";
import type { CliContext } from "./cli-context.ts";
import { toCliError } from "./cli-error.ts";
import { type ClientOptions, parseJsonObject } from "./client-options.ts";
import { type AgentCommandContext, defineClientCommand } from "./define-agent-command.ts";
import { formatColloquyCommand } from "./format-colloquy-command.ts";
import { LatestTaskArtifacts } from "./latest-task-artifacts.ts";
import { createSendUsageError } from "./part-flags.ts";
import { formatFilePart } from "./render-protocol-objects.ts";
import type { OutputStreams } from "./terminal-streams.ts";
import {
  createToolCallAnswerParts,
  findPendingToolCalls,
  formatExampleResponse,
  formatQuestion,
  formatToolCall,
  formatToolPart,
  isAnswerableWithText,
} from "./tool-call-answers.ts";
import { formatResumeCommands, yieldUntilTerminalOrInterrupted } from "./wait-for-task.ts";

interface ChatOptions extends ClientOptions {
  contextId?: string;
  taskId?: string;
}

/** Context id of the conversation, and id of the task that the next chat line continues. */
interface ConversationState {
  contextId?: string;
  /** Id of the task that waits for the user's answer. */
  taskId?: string;
}

const COMMANDS_HELP = "/answer <json> answers a pending tool call. /quit or Ctrl-D ends the chat.";

export function createChatCommand(context: CliContext): Command {
  const command = new Command("chat")
    .option("--context-id <id>", "continue this conversation")
    .option("--task-id <id>", "the first line answers this waiting task")
    .addHelpText(
      "after",
      `
Reads lines from the terminal or from a pipe. ${COMMANDS_HELP}`,
    );
  return defineClientCommand<ChatOptions>(command, "[text...] ", context, async (call) => {
    const { options, output, args } = call;
    if (options.output === "json" && !options.stream)
      throw createSendUsageError(
        "A chat has more than one result. Add --stream to get one JSON line per event.",
      );
    // A person reads a conversation. `--verbose` and `--stream` ask for all details.
    const isConversation = context.isInteractive && !options.verbose && !options.stream;
    const transcript = isConversation ? new ChatTranscript(context.streams) : undefined;
    const chat = new ChatSession(call, options, transcript);
    const lines = readInputLines(args, context);
    try {
      for await (const line of lines) {
        const text = line.trim();
        if (text === "/quit" || text === "/exit") break;
        if (text === "/help" && context.isInteractive) context.streams.err(`${COMMANDS_HELP}\n`);
        else if (text !== "") await chat.sendLine(text, context.isInteractive);
      }
    } finally {
      if (chat.resumeCommand) output.writeHint(`the conversation goes on with: ${chat.resumeCommand}`);
    }
  });
}

/** Yields the chat line from the command line, and then each chat line from the terminal or pipe. */
async function* readInputLines(words: readonly string[], context: CliContext): AsyncGenerator<string, void> {
  const { stdin, streams, isInteractive, interruptSignal } = context;
  if (words.length > 0) yield words.join(" ");
  // Without an interactive terminal for the prompt, a person at the keyboard is never waited for (a2a-cli
  // SPEC §11.2).
  const isPerson = "isTTY" in stdin && stdin.isTTY === true;
  if (isPerson && !isInteractive) {
    if (words.length > 0) return;
    throw createSendUsageError("A chat needs a terminal, a pipe on stdin, or a text to send.");
  }
  const lines = createInterface({
    input: stdin,
    signal: interruptSignal,
    ...(isInteractive ? { output: process.stderr, terminal: isPerson } : {}),
  });
  // In this mode, readline reports Ctrl-C as an event, and the process gets no signal.
  lines.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  const prompt = (): void => {
    if (isInteractive) streams.err("> ");
  };
  prompt();
  for await (const line of lines) {
    yield line;
    prompt();
  }
}

class ChatSession {
  readonly #context: AgentCommandContext<ChatOptions>;
  #conversation: ConversationState;
  #waitingTask: Task | undefined;
  readonly #transcript: ChatTranscript | undefined;

  constructor(
    call: AgentCommandContext<ChatOptions>,
    { contextId, taskId }: ChatOptions,
    transcript: ChatTranscript | undefined,
  ) {
    this.#context = call;
    this.#transcript = transcript;
    this.#conversation = { ...(contextId ? { contextId } : {}), ...(taskId ? { taskId } : {}) };
  }

  /** Returns the command that continues the conversation, or `undefined` before the first answer. */
  get resumeCommand(): string | undefined {
    const { contextId, taskId } = this.#conversation;
    if (contextId === undefined) return undefined;
    const task = taskId === undefined ? [] : ["--task-id", taskId];
    return formatColloquyCommand("chat", this.#context.agentRef, "--context-id", contextId, ...task);
  }

  /**
   * Sends one chat line and prints the answer. If `continuesOnError` is true, the function reports errors
   * instead of throwing, so the chat can continue.
   */
  async sendLine(line: string, continuesOnError: boolean): Promise<void> {
    const { output, signal } = this.#context;
    try {
      await this.#sendParts(await this.#parseLine(line));
    } catch (error) {
      if (!continuesOnError || signal.aborted) throw error;
      output.writeError(toCliError(error));
    }
  }

  async #parseLine(line: string): Promise<Part[]> {
    const [, json] = /^\/answer\s+(.+)$/s.exec(line) ?? [];
    if (json === undefined) return [{ text: line }];
    const answer = parseToolCallAnswer(json);
    const { taskId } = this.#conversation;
    if (taskId === undefined) throw createSendUsageError("No task is waiting for an answer.");
    const { client, signal } = this.#context;
    this.#waitingTask ??= await client.tasks.get(taskId, { signal });
    return createToolCallAnswerParts(this.#waitingTask, [answer]);
  }

  async #sendParts(parts: Part[]): Promise<void> {
    const { client, output, signal, agentRef } = this.#context;
    const known = this.#conversation.taskId !== undefined;
    const messageId = crypto.randomUUID();
    output.writeUserMessageIfVerbose({ messageId, role: "ROLE_USER", parts });
    let task: Task | undefined;
    const stream = client.stream(parts, { ...this.#conversation, messageId, signal });
    for await (const event of yieldUntilTerminalOrInterrupted(stream, known)) {
      this.#writeEvent(event, known && !task);
      task = this.#applyEventToTask(event, task);
    }
    if (!task) return;
    const { id, contextId, status } = task;
    if (this.#transcript) this.#transcript.endTurn(task);
    else output.writeTaskIdsAtStreamEnd({ id, contextId, state: status.state });
    this.#waitingTask = task;
    const waits = isInterrupted(status.state);
    this.#conversation = waits ? { contextId, taskId: id } : { contextId };
    if (waits) output.writeWarning(`the task waits for you (${status.state})`);
    else if (status.state !== "TASK_STATE_COMPLETED") {
      output.writeWarning(
        `the task is ${status.state}: ${formatColloquyCommand("task", "get", agentRef, id, "--wait")}`,
      );
    }
    for (const line of formatAnswerHints(agentRef, task)) output.writeHint(line);
  }

  /** Writes an event. `isKnown` is true if the event contains the task as the user has already seen it. */
  #writeEvent(event: StreamResponse, isKnown: boolean): void {
    const { output } = this.#context;
    if (!this.#transcript)
      return isKnown ? output.writeFirstEventOfResumedTask(event) : output.writeEvent(event);
    if (isKnown && "task" in event) this.#transcript.skipKnownContent(event.task);
    else this.#transcript.writeEvent(event);
  }

  /** Returns the state of the task after a stream event. */
  #applyEventToTask(event: StreamResponse, task: Task | undefined): Task | undefined {
    if ("task" in event) return event.task;
    if ("statusUpdate" in event) {
      const { taskId, contextId, status } = event.statusUpdate;
      return { ...task, id: taskId, contextId, status };
    }
    if ("message" in event) {
      const { contextId } = event.message;
      this.#conversation = contextId === undefined ? this.#conversation : { contextId };
    }
    return task;
  }
}

/** Returns lines that tell the user how to answer the pending function calls of a task in the chat. */
function formatAnswerHints(agentRef: string, task: Task): string[] {
  const calls = findPendingToolCalls(task);
  const [call] = calls;
  if (!call) return [];
  // `/answer` answers one call, and the agent expects all answers in one message.
  if (calls.length > 1) return formatResumeCommands(agentRef, task);
  return isAnswerableWithText(task)
    ? [`the agent ${formatQuestion(call)} Type your answer.`]
    : [`the agent needs the result of ${formatToolCall(call)}: /answer ${formatExampleResponse(call)}`];
}

function parseToolCallAnswer(json: string): JsonObject {
  try {
    return parseJsonObject(json);
  } catch (error) {
    throw createSendUsageError(`/answer: ${(error as Error).message}`, error);
  }
}

/**
 * Writes the answers of an agent as a conversation, for a person at a terminal: texts without labels, as they arrive.
 * After each turn, one line on stderr contains the ids and the state of the task.
 */
class ChatTranscript {
  readonly #streams: OutputStreams;
  readonly #artifacts = new LatestTaskArtifacts();
  #isLineOpen = false;

  constructor(streams: OutputStreams) {
    this.#streams = streams;
  }

  writeEvent(event: StreamResponse): void {
    if ("message" in event) this.#writeBlock(event.message.parts);
    else if ("artifactUpdate" in event) {
      const { parts, isContinuation } = this.#artifacts
        .select(event.artifactUpdate.taskId)
        .addUpdate(event.artifactUpdate);
      if (!isContinuation) this.#endLine();
      this.#writeParts(parts);
      if (event.artifactUpdate.lastChunk) this.#endLine();
    } else if ("statusUpdate" in event) this.#writeBlock(event.statusUpdate.status.message?.parts ?? []);
    else {
      // Some agents repeat the complete task at the end of a stream.
      for (const artifact of event.task.artifacts ?? [])
        this.#writeBlock(this.#artifacts.select(event.task.id).addUpdate({ artifact }).parts);
      this.#writeBlock(event.task.status.message?.parts ?? []);
    }
  }

  /** Skips the content of a task that the user has seen in an earlier turn. */
  skipKnownContent(task: Task): void {
    this.#artifacts.select(task.id).addKnownArtifacts(task);
  }

  endTurn({ id, contextId, status }: Pick<Task, "id" | "contextId" | "status">): void {
    this.#endLine();
    this.#streams.err(`(task ${id}, context ${contextId}: ${status.state})\n`);
  }

  #writeBlock(parts: readonly Part[]): void {
    this.#endLine();
    this.#writeParts(parts);
    this.#endLine();
  }

  #writeParts(parts: readonly Part[]): void {
    for (const part of parts) {
      if ("text" in part) this.#write(part.text);
      else {
        this.#endLine();
        this.#write(formatNonTextPart(part));
        this.#endLine();
      }
    }
  }

  #write(text: string): void {
    if (text === "") return;
    this.#streams.out(text);
    this.#isLineOpen = !text.endsWith("\n");
  }

  #endLine(): void {
    if (this.#isLineOpen) this.#streams.out("\n");
    this.#isLineOpen = false;
  }
}

function formatNonTextPart(part: Exclude<Part, { text: string }>): string {
  if (!("data" in part)) return `[${formatFilePart(part)}]`;
  return formatToolPart(part) ?? JSON.stringify(part.data, null, 2);
}
