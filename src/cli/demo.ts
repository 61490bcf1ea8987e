import { Command } from "commander";
import type { Demo } from "../demo/index.ts";
import type { Context } from "./context.ts";
import { commandLine } from "./invocation.ts";
import { addServeOptions } from "./serve.ts";
import { curlLine, sendLine, type Served } from "./serve/banner.ts";
import type { ServeOptions } from "./serve/run.ts";

interface Options extends ServeOptions {
  model?: string;
}

export function demoCommand(context: Context): Command {
  return addServeOptions(new Command("demo"))
    .option("--model <provider:model>", "run the assistant on this model, for example ollama:qwen3")
    .action((options: Options) => demo(options, context));
}

async function demo(options: Options, context: Context): Promise<void> {
  const { createDemo } = await import("../demo/index.ts");
  const { needAdk } = await import("./serve/adk.ts");
  const { serveUntilStopped } = await import("./serve/run.ts");
  await serveUntilStopped(options, context, async (adk) => {
    const demo = createDemo((assistant) => adk.add("assistant", assistant), options.model, process.env);
    const { agents, model, close, ...tutor } = await needAdk(demo);
    return { agents, about: `Model: ${model}.`, below: tryLines(tutor), close };
  });
}

const tryLines =
  ({ problem, flow }: Pick<Demo, "problem" | "flow">) =>
  ([assistant, writer, tutor]: readonly Served[], header?: string): string => {
    if (!assistant || !writer || !tutor) return "";
    const question = "What is 12.5% of 80, and 10 km in miles?";
    const solved =
      flow === undefined
        ? ""
        : `The planner and the solver of the tutor have just solved a problem of GSM8K, card by card:\n${flow}\n\n`;
    return `${solved}Try in another terminal
  # tools, streamed
${sendLine(assistant.url, question, "--stream")}
  # a tool that takes its time: the task waits for somebody's approval
${sendLine(assistant.url, "Reimburse 150 euros for a taxi")}
  # approve it, now or after a restart (the command above prints this line with its task id)
  ${commandLine("send", assistant.url)} --task-id <task id> --answer '{"approved":true}'

  # a slow stream: stop it with Ctrl-C and see that the task goes on
${sendLine(writer.url, "Write 50 words", "--stream")}
  # what has happened so far
  ${commandLine("task", "list", writer.url)}

  # a planner and a solver, each on a server of its own: watch their cards
${sendLine(tutor.url, problem, "--stream")}
  # the same for twenty problems, with a record of all that was said, and what it cost
  ${commandLine("cards", "run")}

  # nothing but curl
${curlLine(assistant.url, question, header)}`;
  };
