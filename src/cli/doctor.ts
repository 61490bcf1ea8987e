import { resolve } from "node:path";
import { Command, Option } from "commander";
import { examineDeployment, type Diagnosis } from "../studio/judge/index.ts";
import type { CliContext } from "./cli-context.ts";
import { toCliError } from "./cli-error.ts";
import { createOutputOption, parseDuration } from "./client-options.ts";
import { ExitCodeError } from "./exit-code-error.ts";
import { isLocalPath } from "./is-local-path.ts";
import { OutputWriter, type OutputFormat } from "./output-writer.ts";

interface DoctorOptions {
  output: OutputFormat;
  bearer?: string;
  trustOrigin?: string[];
  message: string;
  timeout?: number;
  config?: string;
  yes?: boolean;
}

export function createDoctorCommand(context: CliContext): Command {
  return new Command("doctor")
    .argument("[target]", "the URL of a running agent, a folder, or the file of an agent", ".")
    .addOption(createOutputOption().env("A2ACLI_OUTPUT"))
    .addOption(new Option("--bearer <token>", "bearer token to authenticate with").env("A2ACLI_BEARER"))
    .option("--trust-origin <url...>", "also send the token to this origin if the card names it")
    .option("--message <text>", "the message that a running agent receives", "Hello")
    .option("--timeout <duration>", "time limit of the answer (default: 30s)", parseDuration)
    .option("--config <file>", "configuration file of the project (default: colloquy.config.ts)")
    .option("-y, --yes", "also send another message, create a webhook, and join the database")
    .addHelpText(
      "after",
      `
For a URL, the command reads, and sends one message. For a project, it loads the agents, and starts no server.

Exit codes: 0 if there is no problem, 1 if there is one, 2 for a wrong command line, 3 if the agent was not reached.

Examples:
  colloquy doctor
  colloquy doctor https://agents.example.com --message "Write a long report" --timeout 3m`,
    )
    .action(async (target: string, options: DoctorOptions) => {
      const diagnoses = await examine(target, options, context);
      const problems = count(diagnoses, "problem");
      if (options.output === "json")
        new OutputWriter(context.streams, "json").writeJson({ target, problems, checks: diagnoses });
      else context.streams.out(renderText(diagnoses));
      if (problems > 0) throw new ExitCodeError(1);
    });
}

async function examine(
  target: string,
  {
    bearer: token,
    trustOrigin: trustedOrigins,
    yes: allowsMore = false,
    config,
    timeout: timeoutMs,
    message,
  }: DoctorOptions,
  { cwd, env }: CliContext,
): Promise<readonly Diagnosis[]> {
  if (isLocalPath(target, /\.[cm]?[jt]s$/i)) {
    const { examineProject } = await import("./doctor/examine-project.ts");
    return await examineProject(resolve(cwd, target), { config, env, allowsMore });
  }
  try {
    return await examineDeployment({ url: target, token, trustedOrigins, message, timeoutMs, allowsMore });
  } catch (error) {
    throw toCliError(error, { hasCredentials: token !== undefined });
  }
}

function count(diagnoses: readonly Diagnosis[], wanted: Diagnosis["result"]): number {
  return diagnoses.filter(({ result }) => result === wanted).length;
}

function renderText(diagnoses: readonly Diagnosis[]): string {
  const lines: string[] = [];
  for (const [group, members] of Map.groupBy(diagnoses, (diagnosis) => diagnosis.group)) {
    lines.push(group);
    for (const { result, id, name, seen, remedy, exchanges = [] } of members) {
      lines.push(`  ${result.padEnd(11)} ${id}: ${name}`, `              ${seen}`);
      if (remedy !== undefined) lines.push(`              To do: ${remedy}`);
      lines.push(...exchanges.map((text) => `              ${text}`));
    }
    lines.push("");
  }
  const results = ["ok", "warning", "problem", "not checked"] as const;
  lines.push(`${results.map((result) => `${count(diagnoses, result)} ${result}`).join(", ")}.`);
  return `${lines.join("\n")}\n`;
}
