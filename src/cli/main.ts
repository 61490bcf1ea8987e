import { Console } from "node:console";
import { Command, CommanderError } from "commander";
import { COMMANDS, COMMANDS_LOADING_ALL_COMMAND_MODULES } from "./command-registry.ts";
import type { CommandTable } from "./command-table.ts";
import type { CliContext, ProcessContext } from "./cli-context.ts";
import { OutputWriter, type OutputFormat } from "./output-writer.ts";
import { createConsoleStream, createTerminalStreams, type OutputStreams } from "./terminal-streams.ts";
import { type CliError, createUsageError, toCliError } from "./cli-error.ts";
import { readSettingsFromEnvAndFiles } from "./settings.ts";
import { ExitCodeError } from "./exit-code-error.ts";
import { PROGRAM_DESCRIPTION, readPackageVersion } from "./package-version.ts";

/** Runs the program with the given arguments and returns the exit code. */
export async function runCli(argv: readonly string[], processContext: ProcessContext): Promise<number> {
  const context = withPrintableStreams(processContext);
  try {
    const words = argv[0] === "help" ? toHelpArguments(argv.slice(1)) : argv;
    const called = COMMANDS_LOADING_ALL_COMMAND_MODULES.has(words[0] ?? "") ? "all" : words;
    await (await createProgram(called, context)).parseAsync(words, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    if (context.interruptSignal.aborted) return 130;
    if (error instanceof ExitCodeError) return error.exitCode;
    const problem = error instanceof CommanderError ? toUsageError(error) : toCliError(error);
    const lines = argv.includes("--stream");
    new OutputWriter(context.streams, detectOutputFormatBeforeParsing(argv, context), {
      jsonLines: lines,
    }).writeError(problem);
    return problem.exitCode;
  }
}

/** The result inherits the other members, because reading some of them opens a stream. */
function withPrintableStreams(processContext: ProcessContext): CliContext {
  const streams = createTerminalStreams(processContext.streams, processContext.stdoutColumns !== undefined);
  return Object.create(processContext, { streams: { value: streams } }) as CliContext;
}

/**
 * Rewrites `help task get` to `task get --help`. If the command is unknown, the arguments stay unchanged,
 * because `--help` would hide the error.
 */
function toHelpArguments(words: readonly string[]): readonly string[] {
  let commands: CommandTable = COMMANDS;
  for (const [index, word] of words.entries()) {
    const entry = Object.hasOwn(commands, word) ? commands[word] : undefined;
    if (!entry) return words;
    // Further words are arguments of the command.
    if (!("commands" in entry)) return [...words.slice(0, index + 1), "--help"];
    commands = entry.commands;
  }
  return [...words, "--help"];
}

/**
 * Creates the Commander program, and loads the command that `words` names. The program registers all other
 * commands only with names and descriptions.
 */
async function createProgram(words: readonly string[] | "all", context: CliContext): Promise<Command> {
  const program = new Command("colloquy")
    .description(PROGRAM_DESCRIPTION)
    .version(readPackageVersion(), "-v, --version", "print the version");
  await addCommands(program, COMMANDS, words, context);
  disableCommanderOutputAndExit(program, context.streams);
  return program;
}

async function addCommands(
  parent: Command,
  commands: CommandTable,
  words: readonly string[] | "all",
  context: CliContext,
): Promise<void> {
  for (const [name, entry] of Object.entries(commands)) {
    const isCalled = words === "all" || words[0] === name;
    const isLoaded = isCalled && "loadFactory" in entry;
    const command = isLoaded ? (await entry.loadFactory())(context) : new Command(name);
    if ("commands" in entry) {
      const rest = words === "all" ? words : isCalled ? words.slice(1) : [];
      await addCommands(command, entry.commands, rest, context);
    }
    parent.addCommand(command.description(entry.description));
  }
}

/** Disables Commander's default error output and process exit for every command. */
function disableCommanderOutputAndExit(command: Command, streams: OutputStreams): void {
  command.exitOverride();
  command.configureOutput({ writeOut: (text) => streams.out(text), writeErr: () => {} });
  command.configureHelp({ subcommandTerm: (child) => child.name() });
  command.showSuggestionAfterError();
  for (const child of command.commands) disableCommanderOutputAndExit(child, streams);
}

function toUsageError(error: CommanderError): CliError {
  // Without a command, Commander shows the help as an error.
  if (error.code === "commander.help") return createUsageError("No command is given.", "colloquy --help");
  const message = error.message.replace(/^error: /, "").replaceAll("\n", " ");
  return createUsageError(
    message,
    "Run colloquy --help for the commands, or colloquy <command> --help for the flags.",
  );
}

/**
 * Detects the output format before Commander parses the arguments, because parse errors use the same format.
 */
function detectOutputFormatBeforeParsing(argv: readonly string[], context: CliContext): OutputFormat {
  if (argv.includes("--json")) return "json";
  const format = findOptionValue(argv, "-o", "--output");
  if (format !== undefined) return format === "json" ? "json" : "text";
  try {
    const settings = readSettingsFromEnvAndFiles(findOptionValue(argv, "--config"), context);
    return settings.get("A2ACLI_OUTPUT")?.value === "json" ? "json" : "text";
  } catch {
    return "text";
  }
}

/**
 * Returns the value of a command-line option, which users can write in several ways: `-o json`, `-ojson`,
 * `--output json`, or `--output=json`.
 */
function findOptionValue(argv: readonly string[], ...names: string[]): string | undefined {
  for (const name of names) {
    const index = argv.indexOf(name);
    if (index >= 0) return argv[index + 1];
    const start = name.startsWith("--") ? `${name}=` : name;
    const joined = argv.find((word) => word.startsWith(start));
    if (joined !== undefined) return joined.slice(start.length);
  }
  return undefined;
}

/** Creates the command context from the streams, signals, and environment of the process. */
export function createProcessContext(): ProcessContext {
  const interruption = new AbortController();
  let since = 0;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      // A second Ctrl-C exits at once. npm forwards a signal that the terminal has already sent, so two
      // signals within 500 ms count as one.
      if (!interruption.signal.aborted) since = Date.now();
      else if (Date.now() - since > 500) process.exit(130);
      interruption.abort();
    });
  }
  let endsWithReader = true;
  // A reader that closes the pipe early (`| head`) is not a failure. A server continues without output.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (endsWithReader) process.exit(error.code === "EPIPE" ? 0 : 1);
  });
  // Without a listener, the process would end without closing its server.
  process.stderr.on("error", () => {});
  // stdout is for results. The console output of served agents and of ADK's logger goes to stderr.
  Object.defineProperty(globalThis, "console", {
    get: installStderrConsole,
    set: replaceGlobalConsole,
    configurable: true,
  });
  return {
    streams: { out: (text) => process.stdout.write(text), err: (text) => process.stderr.write(text) },
    // The streams are getters because opening each takes about a millisecond, and most commands do not read
    // stdin.
    get stdin() {
      return process.stdin;
    },
    get isInteractive() {
      return process.stdin.isTTY && process.stdout.isTTY;
    },
    get stdoutColumns() {
      return process.stdout.isTTY ? process.stdout.columns : undefined;
    },
    get stderrColumns() {
      return process.stderr.isTTY ? process.stderr.columns : undefined;
    },
    interruptSignal: interruption.signal,
    continueWithoutReader: () => {
      endsWithReader = false;
    },
    env: process.env,
    cwd: process.cwd(),
  };
}

/** Creates a console that writes to stderr. */
function installStderrConsole(): Console {
  const stderrConsole = new Console(createConsoleStream(process.stderr));
  replaceGlobalConsole(stderrConsole);
  return stderrConsole;
}

function replaceGlobalConsole(value: Console): void {
  Object.defineProperty(globalThis, "console", { value, configurable: true, writable: true });
}
