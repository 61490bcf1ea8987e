import { Command, Option } from "commander";
import { collect } from "../client/index.ts";
import type { JsonObject, Part, SendMessageResponse, StreamResponse } from "../protocol/index.ts";
import { createAnswerParts } from "./tool-call-answers.ts";
import { defineClientCommand, toInterruptedWaitError, type AgentCommandContext } from "./agent-command.ts";
import type { CliContext } from "./cli-context.ts";
import { formatCommandLine } from "./command-line.ts";
import {
  parseCount,
  parseJsonObject,
  createPollIntervalOption,
  type ClientOptions,
} from "./client-options.ts";
import { PartFlags, createSendUsageError } from "./part-flags.ts";
import { reportTaskState, untilTerminalOrInterrupted, waitForTask } from "./wait-for-task.ts";
import { showStream } from "./show-stream.ts";

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
    .addOption(createAnswerOption())
    .addOption(
      new Option("--async", "do not wait: answer once the task exists (default: wait)").conflicts("wait"),
    )
    .option(
      "--wait",
      "wait until the task has ended or waits for you: the default, where a setting says --async",
    )
    .addOption(new Option("--no-wait").hideHelp())
    .addOption(new Option("--return-immediately").hideHelp())
    .option("--task-id <id>", "go on with this task")
    .option("--context-id <id>", "put the new task into this conversation")
    .option("--message-id <id>", "the message's id; an agent takes the same one only once")
    .option("--metadata <json>", "metadata of the request", parseJsonObject)
    .option("--history <n>", "at most this many messages in the result's history", parseCount)
    .addOption(createPollIntervalOption());
  return defineClientCommand<SendOptions>(command, "[text...] ", context, async (call) => {
    const parts = await buildMessageParts(call, flags, context);
    await runSend(call, parts);
  });
}

function createAnswerOption(): Option {
  return new Option(
    "--answer <json>",
    "answer a tool call that the task of --task-id waits for; repeatable, in their order",
  ).argParser((text: string, previous?: JsonObject[]) => [...(previous ?? []), parseJsonObject(text)]);
}

async function buildMessageParts(
  { args: words, options, client: remote, signal }: AgentCommandContext<SendOptions>,
  flags: PartFlags,
  { stdin }: CliContext,
): Promise<Part[]> {
  if (options.answer === undefined) return flags.buildParts(words, stdin);
  if (options.taskId === undefined) throw createSendUsageError("--answer needs --task-id: the task that waits.");
  const answers = createAnswerParts(await remote.tasks.get(options.taskId, { signal }), options.answer);
  const more = words.length > 0 || flags.hasFlags ? await flags.buildParts(words, stdin) : [];
  return [...answers, ...more];
}

async function runSend(call: AgentCommandContext<SendOptions>, parts: Part[]): Promise<void> {
  const { agentRef: ref, client: remote, signal, options, output } = call;
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
    ...(taskId === undefined ? {} : { taskId }),
    ...(contextId === undefined ? {} : { contextId }),
    ...(metadata === undefined ? {} : { metadata }),
  };
  output.writeSentMessage({ messageId, role: "ROLE_USER", parts });
  if (options.stream) {
    // An agent that streams repeats the task first, as it was before this turn; one that does not answers with its end.
    const known = taskId !== undefined && remote.card.capabilities.streaming === true;
    return showStream(remote.stream(parts, request), call, known);
  }
  const response = isAsync
    ? await remote.send(parts, request)
    : await waitForResponse(
        untilTerminalOrInterrupted(remote.stream(parts, request), taskId !== undefined),
        call,
      );
  output.writeResponse(response, (history ?? 0) > 0);
  if ("task" in response) reportTaskState(output, ref, response.task);
}

/**
 * The result of a turn. A stream is followed for it where the agent streams, because that survives a cut; the task is
 * polled when the stream is lost for good, or when an agent that does not stream answers before it has finished.
 */
async function waitForResponse(
  stream: AsyncIterable<StreamResponse>,
  call: AgentCommandContext<SendOptions>,
): Promise<SendMessageResponse> {
  let taskId: string | undefined;
  const noted = withTaskIdCallback(stream, (id) => {
    taskId = id;
  });
  try {
    const response = await collect(noted).catch((error: unknown) => {
      if (taskId === undefined || call.signal.aborted) throw error;
      return undefined;
    });
    if (response && !("task" in response)) return response;
    return { task: await waitForTask(call.client, response?.task.id ?? taskId ?? "", call, response?.task) };
  } catch (error) {
    if (taskId === undefined || !call.signal.aborted) throw error;
    throw toInterruptedWaitError(
      call,
      error,
      formatCommandLine("task", "get", call.agentRef, taskId, "--wait"),
    );
  }
}

/** The stream, telling the task's id as soon as it is known. */
async function* withTaskIdCallback(
  stream: AsyncIterable<StreamResponse>,
  tell: (taskId: string) => void,
): AsyncGenerator<StreamResponse, void> {
  for await (const event of stream) {
    if ("task" in event) tell(event.task.id);
    yield event;
  }
}
