import { createInterface } from "node:readline";
import { Command } from "commander";
import type { JsonObject, Part, StreamResponse, Task } from "../protocol/index.ts";
import { isInterrupted } from "../protocol/index.ts";
import { answerParts, waitingCalls } from "./answer.ts";
import { clientCommand, type Call } from "./command.ts";
import type { Context } from "./context.ts";
import { commandLine } from "./invocation.ts";
import { jsonObject, type ClientOptions } from "./options.ts";
import { usage } from "./parts.ts";
import { toProblem } from "./problem.ts";
import { untilSettled } from "./settle.ts";

interface Options extends ClientOptions {
  contextId?: string;
  taskId?: string;
}

/** Where a conversation is: what the next line goes on with. */
interface Place {
  contextId?: string;
  /** Of the task that waits for an answer. */
  taskId?: string;
}

export function chatCommand(context: Context): Command {
  const command = new Command("chat")
    .option("--context-id <id>", "go on with this conversation")
    .option("--task-id <id>", "the first line answers this task, which waits for it")
    .addHelpText(
      "after",
      `
Lines come from the terminal or from a pipe. /answer <json> answers a tool call that waits; /quit or Ctrl-D ends.`,
    );
  return clientCommand<Options>(command, "[text...] ", context, async (call) => {
    const { options, output, words } = call;
    if (options.output === "json" && !options.stream)
      throw usage("A chat has more than one result: add --stream for a line of JSON for each event.");
    const chat = new Chat(call, options);
    const lines = linesOf(words, context);
    try {
      for await (const line of lines) {
        const text = line.trim();
        if (text === "/quit" || text === "/exit") break;
        if (text !== "") await chat.turn(text, context.interactive);
      }
    } finally {
      if (chat.resume) output.hint(`the conversation goes on with: ${chat.resume}`);
    }
  });
}

/** What is said: the words of the command line first, then what is typed or piped. */
async function* linesOf(words: readonly string[], context: Context): AsyncGenerator<string, void> {
  const { stdin, streams, interactive, interrupted } = context;
  if (words.length > 0) yield words.join(" ");
  // A person who can not see the question is never waited for (a2a-cli SPEC §11.2).
  const isPerson = "isTTY" in stdin && stdin.isTTY === true;
  if (isPerson && !interactive) {
    if (words.length > 0) return;
    throw usage("A chat needs a terminal, a pipe on stdin, or a text to send once.");
  }
  const lines = createInterface({
    input: stdin,
    signal: interrupted,
    ...(interactive ? { output: process.stderr, terminal: isPerson } : {}),
  });
  // A terminal in this mode tells of Ctrl-C here instead of sending the signal.
  lines.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  const ask = (): void => {
    if (interactive) streams.err("> ");
  };
  ask();
  for await (const line of lines) {
    yield line;
    ask();
  }
}

class Chat {
  readonly #call: Call<Options>;
  #place: Place;
  #task: Task | undefined;

  constructor(call: Call<Options>, { contextId, taskId }: Options) {
    this.#call = call;
    this.#place = { ...(contextId ? { contextId } : {}), ...(taskId ? { taskId } : {}) };
  }

  /** The command that goes on where this one ends; undefined before the agent has answered. */
  get resume(): string | undefined {
    const { contextId, taskId } = this.#place;
    if (contextId === undefined) return undefined;
    const task = taskId === undefined ? [] : ["--task-id", taskId];
    return commandLine("chat", this.#call.ref, "--context-id", contextId, ...task);
  }

  /** Says one line and shows the answer. `goesOn`: what fails is told, and the next line may be said. */
  async turn(line: string, goesOn: boolean): Promise<void> {
    const { output, signal } = this.#call;
    try {
      await this.#say(await this.#partsOf(line));
    } catch (error) {
      if (!goesOn || signal.aborted) throw error;
      output.problem(toProblem(error));
    }
  }

  async #partsOf(line: string): Promise<Part[]> {
    const [, json] = /^\/answer\s+(.+)$/s.exec(line) ?? [];
    if (json === undefined) return [{ text: line }];
    const answer = answerOf(json);
    const { taskId } = this.#place;
    if (taskId === undefined) throw usage("No task waits for an answer.");
    const { remote, signal } = this.#call;
    this.#task ??= await remote.task.get(taskId, { signal });
    return answerParts(this.#task, [answer]);
  }

  async #say(parts: Part[]): Promise<void> {
    const { remote, output, signal, ref } = this.#call;
    const known = this.#place.taskId !== undefined;
    const messageId = crypto.randomUUID();
    output.sent({ messageId, role: "ROLE_USER", parts });
    let seen: Task | undefined;
    const stream = remote.stream(parts, { ...this.#place, messageId, signal });
    for await (const event of untilSettled(stream, known)) {
      if (known && !seen) output.resumed(event);
      else output.event(event);
      seen = this.#note(event, seen);
    }
    if (!seen) return;
    const { id, contextId, status } = seen;
    output.endOfStream({ id, contextId, state: status.state });
    this.#task = seen;
    const waits = isInterrupted(status.state);
    this.#place = waits ? { contextId, taskId: id } : { contextId };
    if (waits) output.warning(`the task waits for you (${status.state})`);
    else if (status.state !== "TASK_STATE_COMPLETED") {
      output.warning(`the task is ${status.state}: ${commandLine("task", "get", ref, id, "--wait")}`);
    }
    for (const { name, args } of waitingCalls(seen)) {
      output.hint(
        `it wants to know the result of ${name}(${JSON.stringify(args)}): /answer {"approved":true}`,
      );
    }
  }

  /** What is known of the task after an event. */
  #note(event: StreamResponse, seen: Task | undefined): Task | undefined {
    if ("task" in event) return event.task;
    if ("statusUpdate" in event) {
      const { taskId: id, contextId, status } = event.statusUpdate;
      return { ...seen, id, contextId, status };
    }
    if ("message" in event) {
      const { contextId } = event.message;
      this.#place = contextId === undefined ? this.#place : { contextId };
    }
    return seen;
  }
}

function answerOf(json: string): JsonObject {
  try {
    return jsonObject(json);
  } catch (error) {
    throw usage(`/answer: ${(error as Error).message}`, error);
  }
}
