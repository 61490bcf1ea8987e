import { omitUndefined } from "../base/usage-checks/index.ts";
import { Command, Option } from "commander";
import { collect } from "../client/index.ts";
import type { JsonObject, Part, SendMessageResponse, StreamResponse } from "../protocol/index.ts";
import type { CliContext } from "./cli-context.ts";
import {
  type ClientOptions,
  createPollIntervalOption,
  parseCount,
  parseJsonObject,
} from "./client-options.ts";
import {
  type AgentCommandContext,
  defineClientCommand,
  toInterruptedWaitError,
} from "./define-agent-command.ts";
import { formatColloquyCommand } from "./format-colloquy-command.ts";
import type { OutputWriter } from "./output-writer.ts";
import { createSendUsageError, PartFlags } from "./part-flags.ts";
import { createToolCallAnswerParts } from "./tool-call-answers.ts";
import { waitForTask, warnAboutUncompletedTask, yieldUntilTerminalOrInterrupted } from "./wait-for-task.ts";
import { writeStreamEvents } from "./write-stream-events.ts";

interface SendOptions extends ClientOptions {
  async?: boolean;
  wait?: boolean;
  returnImmediately?: boolean;
  taskId?: string;
  contextId?: string;
  messageId?: string;
  metadata?: JsonObject;
  answer?: JsonObject[];
  history?: number;
  pollInterval: number;
}

export function createSendCommand(context: CliContext): Command {
  const flags = new PartFlags();
  const command = new Command("send");
  for (const option of flags.createOptions()) command.addOption(option);
  command
    .addOption(createToolCallAnswerOption())
    .addOption(new Option("--async", "return once the task exists (default: wait)").conflicts("wait"))
    .option("--wait", "wait until the task ends or needs input; overrides an --async setting")
    .addOption(new Option("--no-wait").hideHelp())
    .addOption(new Option("--return-immediately").hideHelp())
    .option("--task-id <id>", "continue this task")
    .option("--context-id <id>", "start the task in this conversation")
    .option("--message-id <id>", "message id; an agent processes the same id only once")
    .option("--metadata <json>", "metadata of the request", parseJsonObject)
    .option("--history <n>", "maximum number of history messages in the result", parseCount)
    .addOption(createPollIntervalOption());
  return defineClientCommand<SendOptions>(command, "[text...] ", context, async (call) => {
    const parts = await buildMessageParts(call, flags, context);
    await runSend(call, parts, context);
  });
}

function createToolCallAnswerOption(): Option {
  return new Option(
    "--answer <json>",
    "answer a pending tool call of the --task-id task; repeatable, in order",
  ).argParser((text: string, previous?: JsonObject[]) => [...(previous ?? []), parseJsonObject(text)]);
}

async function buildMessageParts(
  { args, options, client, signal }: AgentCommandContext<SendOptions>,
  flags: PartFlags,
  { stdin }: CliContext,
): Promise<Part[]> {
  if (options.answer === undefined) return flags.buildParts(args, stdin);
  if (options.taskId === undefined)
    throw createSendUsageError("--answer requires --task-id, the id of the waiting task.");
  const answers = createToolCallAnswerParts(
    await client.tasks.get(options.taskId, { signal }),
    options.answer,
  );
  const otherParts = args.length > 0 || flags.hasFlags ? await flags.buildParts(args, stdin) : [];
  return [...answers, ...otherParts];
}

async function runSend(
  call: AgentCommandContext<SendOptions>,
  parts: Part[],
  context: CliContext,
): Promise<void> {
  const { agentRef, client, signal, options, output } = call;
  const { taskId, contextId, metadata, history } = options;
  const isAsync = options.async === true || options.wait === false || options.returnImmediately === true;
  const messageId = options.messageId ?? crypto.randomUUID();
  const configuration = {
    ...(isAsync ? { returnImmediately: true } : {}),
    ...(history === undefined ? {} : { historyLength: history }),
  };
  const request = {
    signal,
    configuration,
    messageId,
    ...omitUndefined({ taskId, contextId, metadata }),
  };
  output.writeUserMessageIfVerbose({ messageId, role: "ROLE_USER", parts });
  if (options.stream) {
    // A streaming agent first repeats the task as it was before this turn. An agent without streaming only
    // sends the result.
    const known = taskId !== undefined && client.card.capabilities.streaming === true;
    return writeStreamEvents(client.stream(parts, request), call, known);
  }
  const response = isAsync
    ? await client.send(parts, request)
    : await waitForTurnResult(
        yieldUntilTerminalOrInterrupted(client.stream(parts, request), taskId !== undefined),
        call,
        new SendProgress(output, context),
      );
  output.writeResponse(response, (history ?? 0) > 0);
  if ("task" in response) warnAboutUncompletedTask(output, agentRef, response.task);
}

/**
 * Waits for the result of the turn that a message started. If the agent supports streaming, the function
 * reads the stream. After a broken connection, the function resumes the stream. If the stream is lost, the
 * function polls the task. The function also polls if an agent without streaming returns an unfinished task.
 */
async function waitForTurnResult(
  stream: AsyncIterable<StreamResponse>,
  call: AgentCommandContext<SendOptions>,
  progress: SendProgress,
): Promise<SendMessageResponse> {
  let taskId: string | undefined;
  const noted = tapEvents(stream, (event) => {
    if ("task" in event) taskId = event.task.id;
    progress.show(event);
  });
  try {
    const response = await collect(noted).catch((error: unknown) => {
      if (taskId === undefined || call.signal.aborted) throw error;
      return undefined;
    });
    if (response && !("task" in response)) return response;
    // The stream of a message to an existing task leaves out the artifacts of earlier turns.
    const isComplete = call.options.taskId === undefined;
    const task = isComplete ? response?.task : undefined;
    return { task: await waitForTask(call.client, response?.task.id ?? taskId ?? "", call, task) };
  } catch (error) {
    if (taskId === undefined || !call.signal.aborted) throw error;
    throw toInterruptedWaitError(
      call,
      error,
      formatColloquyCommand("task", "get", call.agentRef, taskId, "--wait"),
    );
  } finally {
    progress.end();
  }
}

/** Yields the events of a stream unchanged, and passes each one to a function first. */
async function* tapEvents(
  stream: AsyncIterable<StreamResponse>,
  onEvent: (event: StreamResponse) => void,
): AsyncGenerator<StreamResponse, void> {
  for await (const event of stream) {
    onEvent(event);
    yield event;
  }
}

/**
 * Shows the progress of a turn while `send` waits for its result. The ids of the task appear at once, so that the user
 * can continue after an interruption. A terminal also shows the last status, which the result replaces.
 */
class SendProgress {
  readonly #output: OutputWriter;
  readonly #context: CliContext;
  #isLineOpen = false;

  constructor(output: OutputWriter, context: CliContext) {
    this.#output = output;
    this.#context = context;
  }

  show(event: StreamResponse): void {
    if ("task" in event) this.#output.announceTask(event.task);
    const { stderrColumns, streams } = this.#context;
    const text = stderrColumns === undefined ? undefined : describeProgress(event);
    if (text === undefined || stderrColumns === undefined) return;
    // Some terminals have an unknown width, which is 0.
    streams.errReplacingLine(text.replaceAll(/\s+/g, " ").slice(0, (stderrColumns || 80) - 1));
    this.#isLineOpen = true;
  }

  /** Removes the status from the terminal. */
  end(): void {
    if (this.#isLineOpen) this.#context.streams.errReplacingLine("");
    this.#isLineOpen = false;
  }
}

function describeProgress(event: StreamResponse): string | undefined {
  if ("artifactUpdate" in event) {
    const { name, artifactId } = event.artifactUpdate.artifact;
    return `receives ${name ?? artifactId}`;
  }
  if (!("task" in event) && !("statusUpdate" in event)) return undefined;
  const { state, message } = "task" in event ? event.task.status : event.statusUpdate.status;
  const [text] = (message?.parts ?? []).flatMap((part) => ("text" in part ? [part.text] : []));
  const name = state.replace("TASK_STATE_", "").toLowerCase();
  return text === undefined ? name : `${name}: ${text}`;
}
