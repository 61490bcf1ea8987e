import type { Command } from "commander";
import { A2AError } from "../protocol/index.ts";
import {
  applySettings,
  collectSettingFileWarnings,
  assertTrustedAgentForCredentials,
} from "./apply-settings.ts";
import type { CliContext } from "./cli-context.ts";
import { formatColloquyCommand } from "./format-colloquy-command.ts";
import { addClientOptions, type ClientOptions } from "./client-options.ts";
import { OutputWriter } from "./output-writer.ts";
import { CliError, createUsageError, toCliError } from "./cli-error.ts";
import { CREDENTIAL_OPTIONS } from "./credential-redactor.ts";
import { readSettingsFromEnvAndFiles, type Settings } from "./settings.ts";
import { loadAgentCard, splitAgentRefFromArguments, type LoadedAgentCard } from "./agent-card-loader.ts";
import type { AgentConnection } from "./agent-connection.ts";

/** Arguments, options, and connection of a command that contacts an agent. */
interface AgentCommandInput<O extends ClientOptions> {
  /** Positional arguments after the agent reference. */
  readonly args: readonly string[];
  readonly options: O;
  readonly output: OutputWriter;
}

export type AgentCommandContext<O extends ClientOptions> = AgentCommandInput<O> & AgentConnection;

/**
 * Defines a command that connects to an agent. The command parses the agent reference, connects to the agent,
 * and converts errors to `CliError`. `words` describes the arguments after the agent reference in the help
 * text.
 */
export function defineClientCommand<O extends ClientOptions>(
  command: Command,
  words: string,
  context: CliContext,
  work: (call: AgentCommandContext<O>) => Promise<void>,
): Command {
  const open = async (ref: string, options: O, cliContext: CliContext): Promise<AgentConnection> => {
    // Loads the client code only here, so that commands that only read a card start faster.
    const { connectToAgent } = await import("./agent-connection.ts");
    return connectToAgent(ref, options, cliContext);
  };
  return defineAgentCommand(command, words, context, open, work);
}

/** Defines a command that reads an agent card without a connection to the agent. */
export function defineAgentCardCommand<O extends ClientOptions>(
  command: Command,
  context: CliContext,
  work: (call: AgentCommandInput<O> & LoadedAgentCard) => void | Promise<void>,
): Command {
  return defineAgentCommand(command, "", context, loadAgentCard, work);
}

/** Defines a command that opens the target of its agent reference with `open`. */
export function defineAgentCommand<
  O extends ClientOptions,
  T extends { readonly close?: () => Promise<void> },
>(
  command: Command,
  words: string,
  context: CliContext,
  open: (ref: string, options: O, context: CliContext) => Promise<T>,
  work: (call: AgentCommandInput<O> & T) => void | Promise<void>,
): Command {
  return addClientOptions(command)
    .usage(`<agent> ${words}[options]`)
    .argument("[words...]")
    .action(async (words: string[], flags: O, self: Command) => {
      const settings = readSettingsFromEnvAndFiles(flags.config, context);
      applySettings(self, settings);
      const options = self.opts<O>();
      const isFlag = self.getOptionValueSource("agentCard") === "cli";
      const { ref, rest } = splitAgentRefFromArguments(words, options, isFlag);
      const isNamed = isFlag || rest.length < words.length;
      assertTrustedAgentForCredentials(self, settings, isNamed);
      const { stream = false, verbose = false } = options;
      const output = new OutputWriter(context.streams, options.output, { jsonLines: stream, verbose });
      writeConnectionWarnings(output, self, settings, options);
      try {
        const target = await open(ref, options, context);
        try {
          await work({ ...target, args: rest, options, output });
        } finally {
          await target.close?.();
        }
      } catch (error) {
        throw toAgentCommandError(error, ref, options);
      }
    });
}

/** Warns about settings files that others can read or that are ignored, and about connections without verification. */
export function writeConnectionWarnings(
  output: OutputWriter,
  command: Command,
  settings: Settings,
  options: ClientOptions,
): void {
  for (const caution of collectSettingFileWarnings(command, settings)) output.writeWarning(caution);
  if (options.insecure) output.writeWarning(formatUnverifiedTlsWarning(options));
}

/** Returns the only task id among the arguments, or throws a usage error. */
export function requireSingleId(words: readonly string[]): string {
  const [id, ...rest] = words;
  if (id !== undefined && rest.length === 0) return id;
  throw createUsageError(id === undefined ? "Pass the id of the task." : "Pass a single task id.");
}

/**
 * Creates the error for a wait that Ctrl-C or `--timeout` interrupted. After an interrupted wait, the agent
 * continues the task, and the user can wait again with the command in `resume`.
 */
export function toInterruptedWaitError(
  call: AgentCommandContext<ClientOptions>,
  error: unknown,
  resume: string,
): unknown {
  if (isTimeoutError(error)) return createTimeoutError(error, call.options, resume);
  call.output.writeHint(`the task continues: ${resume}`);
  return error;
}

function isTimeoutError(error: unknown): boolean {
  return error instanceof DOMException && error.name === "TimeoutError";
}

function createTimeoutError(error: unknown, { timeout }: ClientOptions, hint?: string): CliError {
  const message = `The command did not finish within ${(timeout ?? 0) / 1000} s.`;
  return new CliError("A2ACLI_ERR_TIMEOUT", message, hint, error);
}

/**
 * Creates the warning for `--insecure`. Without certificate verification, an impostor server can receive the
 * user's credentials.
 */
function formatUnverifiedTlsWarning(options: ClientOptions): string {
  const credentialWarning =
    hasCredentials(options) || options.svcParam ? "; YOUR CREDENTIALS GO TO WHOEVER THAT IS" : "";
  return `--insecure: certificates are not verified, so any server can pose as the agent${credentialWarning}`;
}

function hasCredentials(options: ClientOptions): boolean {
  return CREDENTIAL_OPTIONS.some((name) => options[name] !== undefined);
}

function toAgentCommandError(
  error: unknown,
  ref: string,
  options: ClientOptions & { taskId?: string },
): CliError {
  if (isTimeoutError(error)) return createTimeoutError(error, options);
  const hint = error instanceof A2AError ? findErrorHint(error, ref, options) : undefined;
  return toCliError(error, { hasCredentials: hasCredentials(options), ...(hint ? { hint } : {}) });
}

function findErrorHint(
  { reason }: A2AError,
  ref: string,
  options: ClientOptions & { taskId?: string },
): string | undefined {
  // A client secret is never sent to a token server that only the agent card names.
  if (reason === "UNAUTHENTICATED" && options.oauthClient !== undefined && options.oauthIssuer === undefined)
    return "Pass the authorization server that the client secret belongs to: --oauth-issuer.";
  if (reason === "VERSION_NOT_SUPPORTED" && options.a2aVersion === undefined)
    return "If the agent supports only 0.3, pass --a2a-version 0.3.";
  const list = reason === "TASK_NOT_FOUND" ? formatColloquyCommand("task", "list", ref) : undefined;
  if (options.taskId === undefined) return list;
  const debug = "No other task was started. --debug shows the agent's response.";
  return list === undefined ? debug : `${list} lists the existing tasks. ${debug}`;
}
