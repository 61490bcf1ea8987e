import { Command } from "commander";
import type { DemoApplication } from "../studio/demo/index.ts";
import type { CliContext } from "./cli-context.ts";
import { formatColloquyCommand } from "./format-colloquy-command.ts";
import { addServeOptions } from "./serve.ts";
import { renderCurlCommand, renderSendCommand, type ServedAgentSummary } from "./serve/banner.ts";
import type { ServeOptions } from "./serve/serve-until-stopped.ts";

interface DemoOptions extends ServeOptions {
  model?: string;
}

export function createDemoCommand(context: CliContext): Command {
  return addServeOptions(new Command("demo"), { console: true })
    .option("--model <provider:model>", "run the assistant on this model, for example ollama:qwen3")
    .action((options: DemoOptions) => runDemo(options, context));
}

async function runDemo(given: DemoOptions, context: CliContext): Promise<void> {
  const { createDemo } = await import("../studio/demo/index.ts");
  const { requireAdk } = await import("./serve/adk-agent-factory.ts");
  const { serveUntilStopped } = await import("./serve/serve-until-stopped.ts");
  const { openConsoleRecord } = await import("./serve/serve-console.ts");
  const { createDefaultRecord } = await import("./dev/default-record.ts");
  // The console shows what happened before a page was open, such as the traffic of the planner and the solver.
  const file = given.record ?? (given.console ? await createDefaultRecord(given.store) : undefined);
  const options = { ...given, ...(file && { record: file }) };
  const record = options.console ? openConsoleRecord("Colloquy", options.record) : undefined;
  await serveUntilStopped(options, context, async (adk) => {
    const demo = createDemo(
      (assistant) => adk.createAgentFromAdk(assistant, { id: "assistant" }),
      options.model,
      process.env,
      record,
    );
    const { agents, modelDescription, roleUrls, close, ...tutor } = await requireAdk(demo);
    return {
      agents,
      ...(record ? { consoleRecord: record } : {}),
      consoleAgentUrls: roleUrls,
      headline: `Model: ${modelDescription}.`,
      renderBannerFooter: renderDemoTryCommands(tutor),
      close,
    };
  });
}

const renderDemoTryCommands =
  ({ sampleProblem, flowDiagram }: Pick<DemoApplication, "sampleProblem" | "flowDiagram">) =>
  ([assistant, writer, tutor]: readonly ServedAgentSummary[], header?: string): string => {
    if (!assistant || !writer || !tutor) return "";
    const question = "What is 12.5% of 80, and 10 km in miles?";
    const solved =
      flowDiagram === undefined
        ? ""
        : `The tutor's planner and solver have just solved a GSM8K problem, card by card:\n${flowDiagram}\n\n`;
    return `${solved}Try in another terminal
  # tools, streamed
${renderSendCommand(assistant.url, question, "--stream")}
  # a tool that needs approval: the task waits for it
${renderSendCommand(assistant.url, "Reimburse 150 euros for a taxi")}
  # approve it, now or after a restart (the command above prints this line with its task id)
  ${formatColloquyCommand("send", assistant.url)} --task-id <task id> --answer '{"approved":true}'

  # a slow stream: press Ctrl-C, and the task continues
${renderSendCommand(writer.url, "Write 50 words", "--stream")}
  # all tasks so far
  ${formatColloquyCommand("task", "list", writer.url)}

  # a planner and a solver on separate servers: watch their cards
${renderSendCommand(tutor.url, sampleProblem, "--stream")}
  # the same for twenty problems, without a model, recorded with all cards
  ${formatColloquyCommand("cards", "run", "--model", "oracle")}

  # the same request with curl
${renderCurlCommand(assistant.url, question, header)}`;
  };
