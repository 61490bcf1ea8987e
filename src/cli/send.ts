import { Command, Option } from "commander";
import { collect } from "../client/index.ts";
import type { JsonObject, Part, SendMessageResponse, StreamResponse } from "../protocol/index.ts";
import { answerParts } from "./answer.ts";
import { clientCommand, gaveUp, type Call } from "./command.ts";
import type { Context } from "./context.ts";
import { commandLine } from "./invocation.ts";
import { count, jsonObject, pollIntervalOption, type ClientOptions } from "./options.ts";
import { PartFlags, usage } from "./parts.ts";
import { remark, untilSettled, waitForTask } from "./settle.ts";
import { show } from "./show.ts";

interface Options extends ClientOptions {
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

export function sendCommand(context: Context): Command {
  const flags = new PartFlags();
  const command = new Command("send");
  for (const option of flags.options()) command.addOption(option);
  command
    .addOption(answerOption())
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
    .option("--metadata <json>", "metadata of the request", jsonObject)
    .option("--history <n>", "at most this many messages in the result's history", count)
    .addOption(pollIntervalOption());
  return clientCommand<Options>(command, "[text...] ", context, async (call) => {
    const parts = await partsOf(call, flags, context);
    await send(call, parts);
  });
}

function answerOption(): Option {
  return new Option(
    "--answer <json>",
    "answer a tool call that the task of --task-id waits for; repeatable, in their order",
  ).argParser((text: string, previous?: JsonObject[]) => [...(previous ?? []), jsonObject(text)]);
}

async function partsOf(
  { words, options, remote, signal }: Call<Options>,
  flags: PartFlags,
  { stdin }: Context,
): Promise<Part[]> {
  if (options.answer === undefined) return flags.parts(words, stdin);
  if (options.taskId === undefined) throw usage("--answer needs --task-id: the task that waits.");
  const answers = answerParts(await remote.task.get(options.taskId, { signal }), options.answer);
  const more = words.length > 0 || flags.any ? await flags.parts(words, stdin) : [];
  return [...answers, ...more];
}

async function send(call: Call<Options>, parts: Part[]): Promise<void> {
  const { ref, remote, signal, options, output } = call;
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
  output.sent({ messageId, role: "ROLE_USER", parts });
  if (options.stream) {
    // An agent that streams repeats the task first, as it was before this turn; one that does not answers with its end.
    const known = taskId !== undefined && remote.card.capabilities.streaming === true;
    return show(remote.stream(parts, request), call, known);
  }
  const response = isAsync
    ? await remote.send(parts, request)
    : await wait(untilSettled(remote.stream(parts, request), taskId !== undefined), call);
  output.response(response, (history ?? 0) > 0);
  if ("task" in response) remark(output, ref, response.task);
}

/**
 * The result of a turn. A stream is followed for it where the agent streams, because that survives a cut; the task is
 * polled when the stream is lost for good, or when an agent that does not stream answers before it has finished.
 */
async function wait(
  stream: AsyncIterable<StreamResponse>,
  call: Call<Options>,
): Promise<SendMessageResponse> {
  let taskId: string | undefined;
  const noted = noting(stream, (id) => {
    taskId = id;
  });
  try {
    const response = await collect(noted).catch((error: unknown) => {
      if (taskId === undefined || call.signal.aborted) throw error;
      return undefined;
    });
    if (response && !("task" in response)) return response;
    return { task: await waitForTask(call.remote, response?.task.id ?? taskId ?? "", call, response?.task) };
  } catch (error) {
    if (taskId === undefined || !call.signal.aborted) throw error;
    throw gaveUp(call, error, commandLine("task", "get", call.ref, taskId, "--wait"));
  }
}

/** The stream, telling the task's id as soon as it is known. */
async function* noting(
  stream: AsyncIterable<StreamResponse>,
  tell: (taskId: string) => void,
): AsyncGenerator<StreamResponse, void> {
  for await (const event of stream) {
    if ("task" in event) tell(event.task.id);
    yield event;
  }
}
